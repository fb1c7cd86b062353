"""Trusted workflow.py."""
