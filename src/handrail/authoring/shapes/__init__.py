"""Shapes of formats, checking, JSON Schema."""
