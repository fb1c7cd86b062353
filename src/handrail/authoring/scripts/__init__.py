"""The files that played agents play: scripts and cassettes."""
