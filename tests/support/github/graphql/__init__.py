"""GraphQL on the double."""
