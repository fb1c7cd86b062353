"""Says why a path written by an author or an agent may not be used."""


def escape(path: str) -> str | None:
    """Give the reason why a relative path leaves its folder, or None if it stays inside."""
    if "\0" in path:
        return "holds a NUL character"
    if path.startswith(("/", "~")) or path[1:3] in (":\\", ":/"):
        return "is absolute"
    if "\\" in path:
        return "holds a backslash"
    if ".." in path.split("/"):
        return "leaves its folder"
    return None
