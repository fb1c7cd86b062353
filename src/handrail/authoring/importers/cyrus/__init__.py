"""Cyrus procedures (TypeScript)."""
