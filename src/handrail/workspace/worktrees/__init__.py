"""Makes, fills and removes worktrees."""
