"""Any program described by a table."""
