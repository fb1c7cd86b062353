"""Tables and diagrams generated from the code."""
