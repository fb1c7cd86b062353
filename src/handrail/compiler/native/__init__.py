"""Lowers native workflows (YAML, Python) to plans: one file per family of steps, one for each kind of text."""
