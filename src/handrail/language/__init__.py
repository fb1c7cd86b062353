"""The one small expression and template language: total, bounded, with exact positions."""
