"""Records what the user has trusted."""
