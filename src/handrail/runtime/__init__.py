"""Runs workflows durably: the driver loop, one file per effect, recovery, and the supervisor of many runs."""
