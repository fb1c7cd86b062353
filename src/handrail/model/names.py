"""How expressions write names."""


def spoken(name: str) -> str:
    """Give a name as expressions write it: `-` would be a minus sign there."""
    return name.replace("-", "_")
