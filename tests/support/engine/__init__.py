"""Walks of the pure engine."""
