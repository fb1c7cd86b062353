"""Reads lists of shell commands: separators, redirections, reserved words; each simple command goes to the judge."""

import re
from typing import TYPE_CHECKING

from handrail.language.shell.syntax import Command, ValueMark, Word, close_arithmetic

if TYPE_CHECKING:
    from handrail.language.shell.scan import Scanner

BLANK = " \t\r"
META = " \t\r\n;&|()<>"
_REDIRECTION = re.compile(r"<<<|<<-?|<>|>>|>\||&>>?|[<>]&|[<>]")
_RESERVED = frozenset(
    {"if", "then", "else", "elif", "fi", "do", "done", "while", "until", "!", "{", "}", "time", "coproc"}
)


class Commands:
    """Reads simple commands, one after the other, and passes each to the judge."""

    def __init__(self, scanner: "Scanner", closer: str) -> None:
        self._scanner = scanner
        self._closer = closer
        self._command = Command()
        self._parentheses = 0
        self._cases = 0
        self._piped: list[ValueMark] = []

    def run(self) -> None:
        """Read up to the closer, or to the end."""
        scanner = self._scanner
        while scanner.at < len(scanner.text) and not self._is_closed():
            character = scanner.text[scanner.at]
            if character in BLANK or scanner.peek("\\\n"):
                scanner.copy(2 if character == "\\" else 1)
            elif character == "\n":
                scanner.copy()
                self._end()
                scanner.heredocs.bodies()
            elif character == "#":
                self._comment()
            elif character in ";&|()<>" or (character.isdigit() and self._file_descriptor()):
                self._operator(character)
            else:
                self._word()
        self._end()

    def _is_closed(self) -> bool:
        if self._closer == "`":
            return self._scanner.peek("`")
        return self._closer == ")" and self._scanner.peek(")") and not self._parentheses and not self._cases

    def _comment(self) -> None:
        stop = re.compile(r"[\n`]" if self._closer == "`" else r"\n").search(self._scanner.text, self._scanner.at)
        end = stop.start() if stop else len(self._scanner.text)
        self._scanner.copy(end - self._scanner.at)

    def _file_descriptor(self) -> bool:
        return re.compile(r"\d+[<>]").match(self._scanner.text, self._scanner.at) is not None

    def _operator(self, character: str) -> None:
        scanner = self._scanner
        if character.isdigit():
            while scanner.text[scanner.at].isdigit():
                scanner.copy()
        if scanner.peek("<(") or scanner.peek(">("):
            scanner.substitution(2)
        elif redirection := _REDIRECTION.match(scanner.text, scanner.at):
            self._redirection(scanner.copy(len(redirection[0])))
        elif scanner.peek("((") and not self._command.words:
            self._arithmetic_command()
        else:
            self._punctuation(character)

    def _arithmetic_command(self) -> None:
        scanner = self._scanner
        end = close_arithmetic(scanner.text, scanner.at + 2)
        if end < 0:
            self._punctuation("(")
            return
        scanner.copy(2)
        scanner.arithmetic(end)

    def _punctuation(self, character: str) -> None:
        scanner = self._scanner
        piped = character == "|" and not scanner.peek("||")
        carried = [*self._piped, *(mark for word in self._command.words for mark in word.marks), *self._command.stdin]
        scanner.copy(2 if scanner.peek(character * 2) and character in "&|;" else 1)
        self._end()
        if character == "(":
            self._parentheses += 1
        elif character == ")" and self._parentheses:
            self._parentheses -= 1
        self._piped = carried if piped else []
        self._command.stdin += self._piped
        self._command.fed = piped

    def _redirection(self, operator: str) -> None:
        scanner = self._scanner
        if operator in ("<<", "<<-"):
            self._command.fed = True
            scanner.heredocs.announce(operator, self._command)
            return
        while scanner.at < len(scanner.text) and scanner.text[scanner.at] in BLANK:
            scanner.copy()
        target = scanner.word(self._closer)
        if operator in ("<&", ">&") and target.marks:
            mark = target.marks[0]
            message = f"`{operator}{mark.source}` would let a value choose a file descriptor"
            scanner.names.report("shell-unsafe", message, mark.start, mark.end, f"write `> {mark.source}`")
        if operator == "<<<":
            self._command.stdin += target.marks
            self._command.fed = True

    def _word(self) -> None:
        scanner = self._scanner
        start = scanner.at
        word = scanner.word(self._closer)
        if scanner.at == start:
            scanner.copy()
            return
        if not self._command.words and not word.quoted and not word.marks:
            if word.text == "[[":
                self._double_bracket(word)
                return
            self._cases += {"case": 1, "esac": -1 if self._cases else 0}.get(word.text, 0)
            if word.text in _RESERVED or word.text == "esac":
                return
        self._command.words.append(word)

    def _double_bracket(self, opening: Word) -> None:
        scanner = self._scanner
        body = scanner.at
        while scanner.at < len(scanner.text):
            if scanner.text[scanner.at] in META + "`":
                scanner.copy()
                continue
            word = scanner.word()
            for mark in word.marks:
                hint = f'write `[ {mark.source} = ... ]`, or assign it to a variable and test that: `[ "$v" = ... ]`'
                message = f"`{mark.source}` cannot be used in `[[ ]]`"
                scanner.names.report("shell-unsafe", message, mark.start, mark.end, hint)
            if word.text == "]]":
                scanner.judge.bracket(body, scanner.at)
                return
        scanner.names.report("shell-syntax", "`[[` is never closed", opening.start, opening.start + 2)

    def _end(self) -> None:
        self._scanner.judge.command(self._command)
        self._command = Command()
        self._piped = []
