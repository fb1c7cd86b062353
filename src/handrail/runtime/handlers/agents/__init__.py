"""Calls of agents."""
