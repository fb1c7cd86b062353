"""Finds out which agents there are, and whether a run may use them."""
