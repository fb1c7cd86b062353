"""Writes what connects an agent to Handrail into its configuration, and removes exactly that again."""
