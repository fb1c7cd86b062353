"""Loads a trusted workflow.py."""
