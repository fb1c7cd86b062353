"""Describes the form that a result must have, and checks it."""
