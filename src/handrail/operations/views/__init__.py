"""Everything that only reads runs."""
