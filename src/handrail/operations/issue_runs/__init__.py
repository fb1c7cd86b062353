"""Runs that work on issues: started from one, reported on it, answered by its comments."""
