"""Any program that is described by a table."""
