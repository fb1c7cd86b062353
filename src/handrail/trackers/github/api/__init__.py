"""Calls to GitHub: where it is, with which token, how often, and what a refusal means."""
