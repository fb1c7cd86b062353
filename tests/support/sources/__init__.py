"""A user's folders and a repository."""
