"""Composite steps, which take several actions: loop, gate with fix, review loop, merge, fan-out."""
