"""Running git, reading repositories."""
