"""What a result must look like, and whether it does."""
