"""Objects of workflow.py."""
