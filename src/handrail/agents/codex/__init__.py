"""The Codex agent."""
