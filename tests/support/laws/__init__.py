"""Histories of older versions, and the shape of records."""
