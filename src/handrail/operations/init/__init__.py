"""What `handrail init` does."""
