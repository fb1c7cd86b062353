"""Start a run and change its course."""
