"""What the user has trusted."""
