"""Reading and counting in a run's state."""
