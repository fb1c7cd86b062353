"""Shapes of the native format."""
