"""Another process at a log."""
