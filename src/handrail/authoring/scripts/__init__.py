"""The files that replayed agents play: scripts and cassettes."""
