"""The terminal while a run is driven: view, keyboard, questions."""
