"""Commands about a run's work: apply, merge, discard, clean, export."""
