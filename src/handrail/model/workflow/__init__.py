"""Plan and everything in it."""
