"""Drive runs in this process or the background, and report what happens."""
