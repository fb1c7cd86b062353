"""A double of `bd`, the program of beads."""
