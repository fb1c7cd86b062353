"""Suites that an adapter of your own must pass."""
