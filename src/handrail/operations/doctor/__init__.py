"""Checks and repairs the machine and the log."""
