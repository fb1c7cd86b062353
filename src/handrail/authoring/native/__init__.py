"""The shapes of the native format."""
