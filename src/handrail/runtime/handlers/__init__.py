"""One file per effect: each takes a recorded intent and gives the event of its outcome."""
