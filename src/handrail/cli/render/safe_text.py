"""Makes text from files safe for a terminal: no escape sequence, no line break, no hidden change of direction."""

from unicodedata import category, combining, east_asian_width

JOINERS = frozenset("\u200c\u200d")
"""Invisible, but part of how words and emoji are written."""
TAB = "    "


def escape_controls(text: str) -> str:
    """Replace control and hidden characters with visible ones."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(visible_form(character) for character in text)


def escape_lines(text: str) -> list[str]:
    """Split a text into lines, each made safe."""
    return [escape_controls(line) for line in text.split("\n")]


def visible_form(character: str) -> str:
    """Return what is shown for one character."""
    if character == "\t":
        return TAB
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if category(character) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} and character not in JOINERS:
        return f"<U+{code:04X}>"
    return character


def width(text: str) -> int:
    """Count the columns that a safe text takes."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def crop(text: str, most: int) -> str:
    """Shorten a safe text to a number of columns, ending in `…` if something was left out."""
    if width(text) <= most:
        return text
    kept: list[str] = []
    used = 1
    for character in text:
        used += _columns(character)
        if used > most:
            break
        kept.append(character)
    return "".join(kept).rstrip() + "…"


def pad(text: str, columns: int) -> str:
    """Pad a safe text with spaces up to a number of columns."""
    return text + " " * (columns - width(text))


def _columns(character: str) -> int:
    if combining(character) or character in JOINERS or category(character) in {"Mn", "Me"}:
        return 0
    return 2 if east_asian_width(character) in {"W", "F"} else 1
