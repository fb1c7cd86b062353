"""Make, fill and remove worktrees."""
