"""Take, restore and compare snapshots."""
