"""Where the work is done: processes, work trees, snapshots."""
