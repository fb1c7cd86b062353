"""Guesses the type of a value from what it is compared with."""


def type_like(like: object) -> str:
    """Return the type of a value that is like this one."""
    match like:
        case bool():
            return "bool"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "list"
        case _:
            return "json"
