"""One file per effect: each takes a recorded intent and returns the event of its outcome."""
