"""A repository, a team, screens and terminals to call the command line in."""
