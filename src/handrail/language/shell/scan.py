"""Scans a POSIX or bash command, quoting context by quoting context, and puts variables in place of values.

Values never become shell text: they are passed in environment variables.
"""

import re
from collections.abc import Callable, Collection
from typing import NoReturn

from handrail.language.problems import LanguageError, Problem
from handrail.language.shell.commands import BLANK, META, Commands
from handrail.language.shell.heredoc import Heredocs
from handrail.language.shell.names import Names
from handrail.language.shell.rules import CommandChecker
from handrail.language.shell.syntax import (
    HOLE,
    CompiledCommand,
    ValueMark,
    Word,
    close_arithmetic,
    close_brace,
    close_bracket,
)

MAX_DEPTH = 40
"""Levels of `$( )` and backticks."""
MAX_LENGTH = 100_000
"""The most characters of one command."""

_PLAIN = re.compile(r"[^\\'\"$`\s;&|()<>\[\]]+")
_PLAIN_QUOTED = re.compile(r"[^\\\"$`]+")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(\[[^\]]*\])?\+?=\Z", re.ASCII)
_SUBSCRIPT = re.compile(r"([A-Za-z_]\w*)?\Z", re.ASCII)


class Scanner:
    """Reads a command once, from left to right."""

    def __init__(self, text: str, names: Names) -> None:
        self.text = text
        self.names = names
        self.at = 0
        self.out: list[str] = []
        self.judge = CommandChecker(names)
        self._depth = 0
        self.heredocs = Heredocs(self)

    def commands(self, closer: str = "") -> None:
        """Read commands up to the closer of a substitution, or to the end."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self.stop(f"substitutions nest deeper than {MAX_DEPTH} levels", self.at)
        Commands(self, closer).run()
        self._depth -= 1

    def copy(self, count: int = 1) -> str:
        """Copy characters as they are."""
        piece = self.text[self.at : self.at + count]
        self.out.append(piece)
        self.at += len(piece)
        return piece

    def peek(self, piece: str) -> bool:
        """Whether a piece comes next."""
        return self.text.startswith(piece, self.at)

    def word(self, closer: str = "") -> Word:
        """Read one word."""
        word = Word(self.at)
        while self.at < len(self.text):
            character = self.text[self.at]
            if character in META or (closer == "`" and character == "`"):
                if character == "(" and _ASSIGNMENT.match(word.text) and not word.quoted:
                    self._array(word, closer)
                    continue
                break
            self._part(word, character)
        return word

    def _part(self, word: Word, character: str) -> None:
        match character:
            case "\\":
                word.text += self.copy(2)[1:].replace("\n", "")
            case "'":
                self.copy()
                self.single(word, "'")
            case '"':
                self.copy()
                self.double(word)
            case "$":
                self.dollar(word, quoted=False)
            case "`":
                self.backtick(word)
            case "[" if _SUBSCRIPT.match(word.text) and not word.quoted and word.text:
                self._subscript(word)
            case _:
                plain = _PLAIN.match(self.text, self.at)
                word.text += self.copy(plain.end() - self.at if plain else 1)

    def _array(self, word: Word, closer: str) -> None:
        self.copy()
        while self.at < len(self.text) and not self.peek(")"):
            if self.text[self.at] in BLANK + "\n":
                self.copy()
            elif self.peek("["):
                self._subscript(word)
            elif self.text[self.at] in META:
                self.stop(f"unexpected `{self.text[self.at]}` in an array", self.at)
            else:
                inner = self.word(closer)
                word.marks += inner.marks
                if self.at == inner.start:
                    break
        self.copy()

    def _subscript(self, word: Word) -> None:
        end = self.text.find("]", self.at)
        line = self.text.find("\n", self.at)
        if end < 0 or (0 <= line < end):
            word.text += self.copy()
            return
        # The name before decides: in `file[0-9].txt` it is a pattern, but a value in it is refused nevertheless.
        start = self.at
        hint = 'bash would run commands found in it; compare by value instead: case "${x}" in ... esac'
        self.opaque(close_bracket(self.text, self.at), "an array subscript", hint)
        word.text += self.text[start : self.at]

    def single(self, word: Word, reopen: str) -> None:
        """Read a text in single quotes, splitting the quotes around values."""
        word.quoted = True
        start = self.at - 1
        while not self.peek("'"):
            if self.at >= len(self.text):
                self.stop("`'` is never closed", start)
            if reopen == "$'" and self.peek("\\"):
                word.text += self.copy(2)
            elif self.peek("$"):
                self._single_dollar(word, reopen)
            else:
                word.text += self.copy()
        self.copy()

    def _single_dollar(self, word: Word, reopen: str) -> None:
        if self._escape() or not self.peek("${") or self.peek("${{"):
            if self.peek("${{"):
                self.names.actions(self.at)
            word.text += self.copy()
            return
        found = self.names.find_placeholder(self.at)
        if found is None:
            word.text += self.copy(2)
            return
        self._value(word, found, f'\'"${{{found[0]}}}"{reopen}')

    def double(self, word: Word) -> None:
        """Read a text in double quotes."""
        word.quoted = True
        start = self.at - 1
        while not self.peek('"'):
            if self.at >= len(self.text):
                self.stop('`"` is never closed', start)
            self.expanding(word)
        self.copy()

    def expanding(self, word: Word) -> None:
        """Read one piece of a text in which `$` and backticks are expanded."""
        match self.text[self.at]:
            case "\\":
                word.text += self.copy(2)[1:]
            case "$":
                self.dollar(word, quoted=True)
            case "`":
                self.backtick(word)
            case _:
                plain = _PLAIN_QUOTED.match(self.text, self.at)
                word.text += self.copy(plain.end() - self.at if plain else 1)

    def dollar(self, word: Word, *, quoted: bool) -> None:
        """Read what a `$` begins."""
        if self._escape():
            self.copy(2)
            self._parameter()
        elif self.peek("$(("):
            self._arithmetic(word)
        elif self.peek("$("):
            self.substitution(2)
        elif self.peek("${{"):
            self.names.actions(self.at)
            end = self.text.find("}}", self.at)
            word.text += self.copy(end + 2 - self.at if end >= 0 else 3)
        elif self.peek("${"):
            self._placeholder(word, quoted=quoted)
        elif self.peek("$'") and not quoted:
            self.copy(2)
            self.single(word, "$'")
        else:
            word.text += self.copy(2 if self.peek("$$") else 1)

    def _escape(self) -> bool:
        if not self.peek("$${"):
            return False
        self.at += 1
        return True

    def _placeholder(self, word: Word, *, quoted: bool) -> None:
        found = self.names.find_placeholder(self.at)
        if found is None:
            self.copy(2)
            self._parameter()
            return
        self._value(word, found, f"${{{found[0]}}}" if quoted else f'"${found[0]}"')

    def _value(self, word: Word, found: tuple[str, ValueMark], shell: str) -> None:
        self.out.append(shell)
        self.at = found[1].end
        word.text += HOLE
        word.marks.append(found[1])

    def _parameter(self) -> None:
        end = close_brace(self.text, self.at)
        if end < 0:
            self.stop("`${` is never closed", self.at - 2)
        self.opaque(end, "the shell's own `${...}`", "assign it to a variable first: `v=${...}`")

    def _arithmetic(self, word: Word) -> None:
        end = close_arithmetic(self.text, self.at + 3)
        if end < 0:
            self.substitution(2)
            return
        self.copy(3)
        self.arithmetic(end)
        word.text += "0"

    def arithmetic(self, end: int) -> None:
        """Read an arithmetic expression up to its `))`."""
        self.judge.arithmetic(self.at, end)
        self.opaque(end, "arithmetic", "bash would run commands found in it; calculate in the placeholder: `${x + 1}`")
        self.copy(2)

    def substitution(self, opening: int) -> None:
        """Read `$(...)`, `<(...)` or `>(...)`."""
        start = self.at
        self.copy(opening)
        self.commands(")")
        if not self.peek(")"):
            self.stop(f"`{self.text[start : start + opening]}` is never closed", start)
        self.copy()

    def backtick(self, word: Word) -> None:
        """Read a substitution in backticks."""
        start, marks = self.at, len(self.out)
        self.copy()
        self.commands("`")
        if not self.peek("`"):
            self.stop("a backtick is never closed", start)
        self.copy()
        inner = self.text[start : self.at]
        if "\\" in inner and any("HR_" in piece for piece in self.out[marks:]):
            hint = "write `$(...)` instead of backticks"
            self.names.report("shell-unsafe", "backticks contain both backslashes and a value", start, self.at, hint)
        word.text += " "

    def opaque(self, end: int, place: str, hint: str) -> None:
        """Copy text in which no value of Handrail's is allowed."""
        while self.at < end:
            if self._escape():
                self.copy(2)
            elif self.peek("${{"):
                self.names.actions(self.at)
                self.copy(3)
            elif self.peek("${") and (mark := self.names.is_ours(self.at)):
                message = f"`{mark.source}` cannot be used in {place}"
                self.names.report("shell-unsafe", message, mark.start, mark.end, hint)
                self.copy(mark.end - self.at)
            else:
                self.copy()

    def stop(self, message: str, start: int) -> NoReturn:
        """Give up on a command that cannot be parsed."""
        raise LanguageError(Problem("shell-syntax", message, start, min(start + 2, len(self.text))))


def compile_command(text: str, known: Callable[[str], bool], names: Collection[str] = ()) -> CompiledCommand:
    """Replace every `${...}` of Handrail's by a variable; `known` decides which root names are, `names` lists them."""
    found = Names(text, known, names)
    if len(text) > MAX_LENGTH:
        found.report("shell-syntax", f"the command has {len(text)} characters, the maximum is {MAX_LENGTH}", 0, 1)
        return CompiledCommand(text, (), tuple(found.problems))
    scanner = Scanner(text, found)
    try:
        scanner.commands()
        scanner.judge.finish()
    except LanguageError as error:
        found.problems.append(error.problem)
    problems = sorted(dict.fromkeys(found.problems), key=lambda problem: problem.start)
    return CompiledCommand("".join(scanner.out), found.bindings, tuple(problems), tuple(dict.fromkeys(found.warnings)))
