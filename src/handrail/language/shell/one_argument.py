"""Puts quotes around a variable wherever a shell would split its value into words."""

import re

_PIECES = re.compile(r"\\.|'[^']*'|\"|\$\(|`|[()]|\$\{\w+\}|\$\w+", re.DOTALL)
_OPENS, _CLOSES, _QUOTE = ("$(", "("), ")", '"'


def quote_variable(script: str, name: str) -> str:
    """Return a command in which the value of a variable is one argument, whatever characters it contains."""
    return _Quoting(name).quote_script(script)


class _Quoting:
    """Scans a command once, tracking for each nested command whether double quotes are open."""

    def __init__(self, name: str) -> None:
        self._wanted = (f"${name}", f"${{{name}}}")
        self._open = [False]

    def quote_script(self, script: str) -> str:
        """Return the command with the variable in quotes."""
        return _PIECES.sub(self._piece, script)

    def _piece(self, found: re.Match[str]) -> str:
        piece = found[0]
        if piece.startswith("'") and self._open[-1]:
            # Inside double quotes an apostrophe is a plain character, so what follows it is scanned again.
            return "'" + self.quote_script(piece[1:])
        if piece == _QUOTE:
            self._open[-1] = not self._open[-1]
        elif piece in _OPENS:
            if piece == _OPENS[0] or not self._open[-1]:
                self._open.append(False)
        elif piece == _CLOSES and len(self._open) > 1 and not self._open[-1]:
            self._open.pop()
        return f'"{piece}"' if piece in self._wanted and not self._open[-1] else piece
