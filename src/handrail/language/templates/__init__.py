"""Prompt templates and `${...}` interpolation."""
