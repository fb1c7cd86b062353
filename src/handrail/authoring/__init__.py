"""How a workflow is written: YAML, JSON and Python forms, all giving one Document with source positions."""
