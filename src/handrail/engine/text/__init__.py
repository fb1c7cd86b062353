"""Untrusted text, byte limits, JSON, globs."""
