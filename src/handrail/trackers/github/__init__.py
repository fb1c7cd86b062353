"""GitHub: issues and pull requests, over REST and the few queries that only GraphQL has."""
