"""Starts a run and changes its course."""
