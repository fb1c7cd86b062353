"""Strategies for expressions, and what a command becomes."""
