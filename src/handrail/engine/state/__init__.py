"""Reads and counts in a run's state."""
