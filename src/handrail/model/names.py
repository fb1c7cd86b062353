"""How names are written in expressions, and why a path may not be used."""


def make_identifier(name: str) -> str:
    """Return a name as expressions write it: `-` would be a minus sign there."""
    return name.replace("-", "_")


def path_problem(path: str) -> str | None:
    """Explain why a relative path leaves its folder, or return None if it stays inside."""
    if "\0" in path:
        return "contains a NUL character"
    if path.startswith(("/", "~")) or path[1:3] in (":\\", ":/"):
        return "is absolute"
    if "\\" in path:
        return "contains a backslash"
    if ".." in path.split("/"):
        return "leaves its folder"
    return None
