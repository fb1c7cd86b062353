"""What people and agents do with issues, through the ports of trackers."""
