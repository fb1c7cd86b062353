"""Where the shell's own brackets end."""

import re


def close_brace(text: str, at: int) -> int:
    """Give the offset after the `}` that closes a parameter expansion, or -1."""
    depth = 1
    for match in re.compile(r"\\.|'[^'}]*'|\$?\{|\}", re.DOTALL).finditer(text, at):
        if match[0] == "}":
            depth -= 1
            if depth == 0:
                return match.end()
        elif match[0] == "${":
            depth += 1
    return -1


def close_arithmetic(text: str, at: int) -> int:
    """Give the offset of the `))` that closes an arithmetic expression, or -1."""
    depth = 0
    for match in re.compile(r"[()]").finditer(text, at):
        if match[0] == "(":
            depth += 1
        elif depth:
            depth -= 1
        else:
            return match.start() if text.startswith("))", match.start()) else -1
    return -1


def close_bracket(text: str, at: int) -> int:
    """Give the offset after the `]` that closes a subscript, or the end of the line."""
    depth = 0
    for match in re.compile(r"[\[\]\n]").finditer(text, at):
        depth += {"[": 1, "]": -1, "\n": -1000}[match[0]]
        if depth <= 0:
            return match.end() if match[0] == "]" else match.start()
    return len(text)
