"""Decides the next events from a state."""
