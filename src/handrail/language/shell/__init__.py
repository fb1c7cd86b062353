"""Values in shell commands."""
