"""Finds, checks, describes, trusts and imports workflows."""
