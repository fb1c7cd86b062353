"""Trackers and a code host in memory: the twins for tests and for trials of workflows."""
