"""Takes, restores and compares snapshots."""
