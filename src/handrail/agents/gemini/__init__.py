"""The Gemini CLI agent."""
