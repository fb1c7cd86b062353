"""Finds workflows: tiers, prompt files, bindings, trust, and loading of trusted Python."""
