"""Here-documents: recorded where they are announced, read after the line has ended."""

import re
from typing import TYPE_CHECKING

from handrail.frozen import frozen
from handrail.language.shell.syntax import Command, Word

if TYPE_CHECKING:
    from handrail.language.shell.scan import Scanner

_DELIMITER = re.compile(r"(\\?[\w.+-]+|'[^'\n]*'|\"[^\"\n]*\")+")


@frozen
class Heredoc:
    """A here-document whose body is still to come."""

    delimiter: str
    quoted: bool
    tabs: bool
    command: Command


class Heredocs:
    """The here-documents of one script."""

    def __init__(self, scanner: "Scanner") -> None:
        self._scanner = scanner
        self._waiting: list[Heredoc] = []

    def announce(self, operator: str, command: Command) -> None:
        """Record a here-document; its body follows the line."""
        scanner = self._scanner
        while scanner.peek(" ") or scanner.peek("\t"):
            scanner.copy()
        match = _DELIMITER.match(scanner.text, scanner.at)
        if match is None:
            scanner.stop("a here-document needs a plain word as its delimiter", scanner.at)
        raw = scanner.copy(match.end() - scanner.at)
        bare = re.sub(r"[\\'\"]", "", raw)
        self._waiting.append(Heredoc(bare, bare != raw, operator == "<<-", command))

    def bodies(self) -> None:
        """Read the bodies of the here-documents of the line that has just ended."""
        waiting, self._waiting = self._waiting, []
        for heredoc in waiting:
            self._body(heredoc)

    def _body(self, heredoc: Heredoc) -> None:
        scanner = self._scanner
        tabs = r"\t*" if heredoc.tabs else ""
        ending = re.compile(rf"^{tabs}{re.escape(heredoc.delimiter)}$", re.MULTILINE).search(scanner.text, scanner.at)
        if ending is None:
            scanner.stop(f"the here-document has no line `{heredoc.delimiter}` at its end", scanner.at)
        if heredoc.quoted:
            hint = f"write `<<{heredoc.delimiter}` without quotes, and the shell's own `$` as `\\$`"
            scanner.opaque(ending.start(), "a quoted here-document", hint)
        else:
            self._expanding(heredoc, ending.start())
        scanner.copy(ending.end() - scanner.at)

    def _expanding(self, heredoc: Heredoc, end: int) -> None:
        scanner = self._scanner
        word = Word(scanner.at)
        while scanner.at < end:
            if scanner.text[scanner.at] in "\\$`":
                scanner.expanding(word)
            else:
                word.text += scanner.copy()
        if scanner.at > end:
            scanner.stop("the here-document ends inside a substitution", end)
        heredoc.command.stdin += word.marks
        scanner.judge.stdin(heredoc.command)
