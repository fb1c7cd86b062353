"""Coven grimoires (Go templates)."""
