"""Measures how the code and the texts of Handrail read; `make style` prints the measures and holds their limits."""
