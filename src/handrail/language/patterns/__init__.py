"""Bounded regular expressions."""
