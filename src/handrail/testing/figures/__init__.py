"""Tables and diagrams drawn from the code."""
