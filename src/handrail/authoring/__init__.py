"""The forms in which a workflow is written (YAML, JSON, Python), all parsed to one Document with source positions."""
