"""The local tracker: issues as streams of facts in the user's own log."""
