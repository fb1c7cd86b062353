"""The pure core: `apply` folds events into a state, `advance` decides the events that follow."""
