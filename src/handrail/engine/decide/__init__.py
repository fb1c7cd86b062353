"""State to next events."""
