"""The plan and everything in it."""
