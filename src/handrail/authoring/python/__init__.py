"""The objects of a workflow.py."""
