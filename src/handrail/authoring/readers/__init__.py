"""Readers for YAML and JSON that record positions."""
