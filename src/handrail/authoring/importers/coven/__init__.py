"""Imports Coven grimoires (Go templates)."""
