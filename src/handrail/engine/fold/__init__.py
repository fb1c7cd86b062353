"""Events to state."""
