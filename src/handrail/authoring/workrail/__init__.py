"""Shapes of WorkRail JSON."""
