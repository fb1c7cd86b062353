"""Check and repair the machine and the log."""
