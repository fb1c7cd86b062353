"""The corpus of broken files."""
