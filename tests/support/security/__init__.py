"""A person, a repository that may be hostile, and the installed program: black-box tests use nothing else."""
