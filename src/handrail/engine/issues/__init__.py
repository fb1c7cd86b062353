"""Runs that work on issues: their names, their progress as text, and what comments ask for."""
