"""Workflows compiled as texts."""
