"""Issues, as the commands about them see them."""
