"""Pages, their examples and their commands."""
