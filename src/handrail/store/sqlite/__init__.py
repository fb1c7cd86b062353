"""The log on SQLite, with its `sql/`."""
