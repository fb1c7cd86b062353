"""Finds where a value, even in a quoted variable, would still be read as code: commands judged word by word."""

import re
from collections.abc import Iterable, Sequence

from handrail.language.problems import Problem
from handrail.language.shell.interpreters import (
    CODE_ARGUMENT,
    EVERY_ARGUMENT,
    OPTIONS_WITH_VALUE,
    WRAPPERS,
    code_words,
    interpreter,
    is_shell,
    safe_form,
)
from handrail.language.shell.names import Names
from handrail.language.shell.syntax import HOLE, Command, ValueMark, Word

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\[[^\]]*\])?\+?=", re.ASCII)
_DECLARING = frozenset({"export", "declare", "local", "readonly", "typeset", "alias"})
_NAMING = frozenset({"unset", "read", "mapfile", "readarray", "getopts", "for", "select"})
_NUMERIC = re.compile(r"\s-(eq|ne|lt|le|gt|ge|v)\s")


class CommandChecker:
    """Judges each command once it is complete."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._tainted: dict[str, ValueMark] = {}
        self._calculations: list[tuple[int, int]] = []

    def arithmetic(self, start: int, end: int) -> None:
        """Record an arithmetic expression, for what it may read."""
        self._calculations.append((start, end))

    def bracket(self, start: int, end: int) -> None:
        """Record the inside of `[[ ]]`, which calculates if it compares numbers."""
        if _NUMERIC.search(self._names.text, start, end):
            self._calculations.append((start, end))

    def finish(self) -> None:
        """Judge what needs the whole script: variables that were assigned a value and are then calculated with."""
        for start, end in self._calculations:
            names = set(re.findall(r"[A-Za-z_]\w*", self._names.text[start:end])) & set(self._tainted)
            for name in sorted(names):
                message = f"'{name}' contains `{self._tainted[name].source}`, and bash runs commands in such a value"
                hint = "calculate in the placeholder instead, as in `${x + 1}`"
                self._names.report("shell-unsafe", message, start, end, hint)

    def command(self, command: Command) -> None:
        """Judge one simple command, also in the form it has if empty variables make their words vanish."""
        words = self._strip_assignments(command.words)
        self._judge(words, command, _COMMAND_HINT)
        lasting = self._strip_assignments([word for word in command.words if not _can_vanish(word)])
        if len(lasting) != len(words):
            self._judge(lasting, command, _VANISH_HINT)

    def _judge(self, words: list[Word], command: Command, hint: str) -> None:
        if not words:
            return
        head = words[0]
        if head.marks:
            self._head(head, hint)
            return
        self._interpreters(words)
        self._builtins(head.text, words)
        if command.fed:
            self._judge_stdin(words, command.stdin)
        if head.text == "sed":
            self._judge_sed(words)

    def _head(self, head: Word, hint: str) -> None:
        if re.match(r"\w*\0[\w\0]*\+?=", head.text):
            self._refuse(head.marks, "a value would name a variable", _NAME_HINT)
        else:
            self._refuse(head.marks, f"`{head.marks[0].source}` would determine the program", hint)

    def stdin(self, command: Command) -> None:
        """Judge what a here-document feeds to a command, once its body is known."""
        words = self._strip_assignments(command.words)
        if words and not words[0].marks:
            self._judge_stdin(words, command.stdin)

    def _strip_assignments(self, words: list[Word]) -> list[Word]:
        for index, word in enumerate(words):
            match = _ASSIGNMENT.match(word.text)
            if match is None:
                return self._strip_wrappers(words[index:])
            if word.marks and HOLE in word.text[match.end() :]:
                self._tainted.setdefault(match[1], word.marks[0])
        return []

    def _strip_wrappers(self, words: list[Word]) -> list[Word]:
        while words and words[0].text in WRAPPERS and len(words) > 1:
            rest = _skip_options(words[1:], OPTIONS_WITH_VALUE.get(words[0].text, ""))
            rest = [*_skip_assignments(rest)][WRAPPERS[words[0].text] :]
            if not rest:
                break
            words = rest
        return words

    def _interpreters(self, words: Sequence[Word]) -> None:
        for index, word in enumerate(words):
            name = interpreter(word.text)
            if name is None:
                continue
            for code in code_words(name, words[index + 1 :]):
                self._refuse(code.marks, f"a value is part of the code passed to `{word.text}`", safe_form(name))

    def _builtins(self, head: str, words: Sequence[Word]) -> None:
        arguments = words[1:]
        if head in EVERY_ARGUMENT:
            self._refuse_each(arguments, f"a value is part of what `{head}` runs as code", EVERY_ARGUMENT[head])
        elif head in CODE_ARGUMENT:
            rest = _skip_options(list(arguments), OPTIONS_WITH_VALUE.get(head, ""))
            skip = CODE_ARGUMENT[head]
            self._refuse_each(rest[skip:], f"a value is part of what `{head}` runs as code", safe_form(head))
        elif head in _DECLARING:
            self._judge_declaration(head, arguments)
        elif head in _NAMING:
            self._judge_naming(head, arguments)
        elif head in ("[", "test"):
            self._judge_test(arguments)
        elif head == "printf" and len(arguments) > 1 and arguments[0].text == "-v":
            self._refuse_each(arguments[1:2], "a value would name a variable", _NAME_HINT)

    def _judge_declaration(self, head: str, arguments: Sequence[Word]) -> None:
        options = "".join(word.text for word in arguments if word.text.startswith("-"))
        for word in arguments:
            if not word.marks:
                continue
            name, _, value = word.text.partition("=")
            if HOLE in name or "i" in options or "n" in options.replace("nameref", "n"):
                self._refuse(word.marks, f"a value would name a variable, or be evaluated, in `{head}`", _NAME_HINT)
            elif HOLE in value:
                self._tainted.setdefault(name, word.marks[0])

    def _judge_naming(self, head: str, arguments: Sequence[Word]) -> None:
        if head in ("for", "select"):
            self._refuse_each(arguments[:1], "a value would name a variable", _NAME_HINT)
            if len(arguments) > 1:
                for word in arguments[2:]:
                    for mark in word.marks[:1]:
                        self._tainted.setdefault(arguments[0].text, mark)
            return
        rest = _skip_options(list(arguments), OPTIONS_WITH_VALUE.get(head, ""))
        self._refuse_each(rest, "a value would name a variable", _NAME_HINT)

    def _judge_test(self, arguments: Sequence[Word]) -> None:
        inside = [word for word in arguments if word.text != "]"]
        for index, word in enumerate(inside[1:], 1):
            before = inside[index - 1]
            if word.marks and before.text in ("-v", HOLE):
                hint = "`-v` runs commands found in such a value; write the operator literally"
                self._refuse(word.marks, "a value would be taken as the name of a variable", hint)

    def _judge_stdin(self, words: Sequence[Word], marks: Iterable[ValueMark]) -> None:
        if is_shell(words) and (found := list(marks)):
            self._refuse(found[:1], f"a value is part of what `{words[0].text}` reads as code", safe_form("sh"))

    def _judge_sed(self, words: Sequence[Word]) -> None:
        for word in words[1:]:
            if word.marks and word.quoted and word.text != HOLE and re.match(r"(\d+|\$|/.*/)?[sye/]", word.text):
                mark = word.marks[0]
                message = "a value is part of a `sed` script; `/`, `&` and newlines in it change the script"
                self._names.warnings.append(_warning(message, mark))

    def _refuse_each(self, words: Iterable[Word], message: str, hint: str) -> None:
        for word in words:
            self._refuse(word.marks, message, hint)

    def _refuse(self, marks: Iterable[ValueMark], message: str, hint: str) -> None:
        for mark in marks:
            self._names.report("shell-unsafe", message, mark.start, mark.end, hint.replace("VALUE", mark.source))


_COMMAND_HINT = "write the program's name literally and pass the value as an argument: `program VALUE`"
_VANISH_HINT = "quote the variable before it: if it is empty, the value becomes the command"
_NAME_HINT = "write the variable's name literally: `name=VALUE`"


def _can_vanish(word: Word) -> bool:
    # A word that is only an unquoted expansion disappears if that is empty.
    return not word.quoted and not word.marks and re.fullmatch(r"(\$\w+|\$[@*]| )*", word.text) is not None


def _warning(message: str, mark: ValueMark) -> Problem:
    return Problem(
        "shell-unsafe", message, mark.start, mark.end, "prefer a program that takes the value as an argument"
    )


def _skip_options(words: list[Word], with_value: str) -> list[Word]:
    rest = list(words)
    while rest and rest[0].text.startswith("-") and rest[0].text != "-":
        option = rest.pop(0).text
        if option == "--":
            break
        if len(option) == 2 and option[1] in with_value and rest:
            rest.pop(0)
    return rest


def _skip_assignments(words: list[Word]) -> list[Word]:
    rest = list(words)
    while rest and _ASSIGNMENT.match(rest[0].text):
        rest.pop(0)
    return rest
