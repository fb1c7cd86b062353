"""Proofs: `done_when`."""
