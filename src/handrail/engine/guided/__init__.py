"""WorkRail-style guided steps."""
