"""Where facts are kept: the event log on SQLite and in memory; the only folder that speaks SQL."""
