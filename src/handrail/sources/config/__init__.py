"""The settings files: config.toml, agents.toml."""
