"""Events, run state, spending."""
