"""A repository, its worktrees, and commands."""
