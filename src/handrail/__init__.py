"""Handrail: run coding agents along workflows you can trust, stop and rewind."""

__version__ = "0.1.0"
