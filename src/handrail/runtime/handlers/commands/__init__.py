"""Scripts and gates."""
