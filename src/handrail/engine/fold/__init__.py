"""Folds events into a run's state."""
