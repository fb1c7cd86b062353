"""Where the work is done: worktrees, snapshots, commits and their delivery."""
