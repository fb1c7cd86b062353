"""Lowers native workflows (YAML, Python) to plans: one module per family of steps and per kind of text."""
