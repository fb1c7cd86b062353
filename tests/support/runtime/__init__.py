"""Rooms in which workflows run, and processes that die on purpose."""
