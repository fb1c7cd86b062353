"""Tools that an agent may call during its step."""
