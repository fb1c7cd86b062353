"""Commits and merges on the run's branch."""
