"""YAML and JSON with positions."""
