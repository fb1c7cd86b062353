"""Sources of foreign workflows."""
