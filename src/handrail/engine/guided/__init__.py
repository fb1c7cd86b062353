"""Guided steps in the style of WorkRail."""
