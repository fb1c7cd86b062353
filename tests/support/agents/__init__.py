"""Rooms for agents: scripted, described, real ones against a scripted model."""
