"""Stores facts: the event log on SQLite and in memory; the only folder that contains SQL."""
