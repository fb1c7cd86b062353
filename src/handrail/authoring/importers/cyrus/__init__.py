"""Imports Cyrus procedures (TypeScript)."""
