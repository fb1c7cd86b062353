"""Chooses the agent of a step and writes its prompt."""
