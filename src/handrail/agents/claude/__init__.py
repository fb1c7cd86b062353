"""The Claude Code agent."""
