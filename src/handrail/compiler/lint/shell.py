"""Analyses shell commands for lints: which parts are quoted, their chained commands, and unquoted variables."""

import re
from bisect import bisect_right
from collections.abc import Iterator

from handrail.frozen import frozen

HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1[^\n]*\n(?:.*?\n)??\s*\2[ \t]*(?=\n|$)", re.DOTALL)
MAX_LENGTH = 10_000
"""Longer scripts are skipped, so that no input takes long."""
COMMENT = re.compile(r"(?:^|(?<=\s))#[^\n]*")


@frozen
class ChainPart:
    """A command of a chain, with the position of the `&&` before it."""

    text: str
    joined_at: int


def mark_quoting(script: str) -> str:
    """Mark how each character is quoted: ` ` bare, `"` in double quotes, `'` in single quotes or escaped."""
    marks: list[str] = []
    stack: list[str] = [" "]
    at = 0
    while at < len(script):
        step = _mark(script, at, stack)
        marks.append(step)
        at += len(step)
    return "".join(marks)


def _mark(script: str, at: int, stack: list[str]) -> str:
    character, inside = script[at], stack[-1]
    if inside == "'":
        if character == "'":
            stack.pop()
        return "'"
    if character == "\\":
        # A backslash and the character it escapes; at the end of the script only the backslash.
        return "''"[: len(script) - at]
    if script.startswith("$(", at):
        stack.append("(")
        return (inside if inside == '"' else " ") * 2
    if character == '"':
        _toggle(stack)
        return '"'
    return _mark_bare(character, inside, stack)


def _toggle(stack: list[str]) -> None:
    if stack[-1] == '"':
        stack.pop()
    else:
        stack.append('"')


def _mark_bare(character: str, inside: str, stack: list[str]) -> str:
    if inside == '"':
        return '"'
    if character == "'":
        stack.append("'")
        return "'"
    if character == "(":
        stack.append("(")
    elif character == ")" and inside == "(":
        stack.pop()
    return " "


def split_and(script: str) -> list[ChainPart]:
    """Split a chain of commands at each `&&` outside of quotes and parentheses."""
    marks = mark_quoting(script)
    parts: list[ChainPart] = []
    start = joined = depth = 0
    for at, character in enumerate(script):
        if marks[at] != " ":
            continue
        depth += (character == "(") - (character == ")")
        if depth == 0 and script.startswith("&&", at):
            parts.append(ChainPart(script[start:at].strip(), joined))
            start, joined = at + 2, at
    return [*parts, ChainPart(script[start:].strip(), joined)]


@frozen
class VariableUse:
    """A place where a script reads a variable."""

    name: str
    start: int
    end: int
    how: str
    """`bare`, `quoted`, or the interpreter that executes it as code."""


VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)[^}]*\})")
INTERPRETER = re.compile(
    r"\b(eval|(?:ba|da|z|k)?sh\s+(?:-\w+\s+)*-\w*c|python[\d.]*\s+(?:-\w+\s+)*-c|(?:node|perl|ruby)\s+-e)\s"
)
UNSPLIT = re.compile(r"(?:^|[\s;&|(])(?:(?:export|local|readonly|declare)\s+)?\w+=[^\s;&|]*$|\[\[\s[^\]]*$|\bcase\s+$")
"""What precedes a variable whose value the shell neither splits nor expands."""


def find_uses(script: str) -> Iterator[VariableUse]:
    """Find every variable that a script reads, outside of single quotes, comments and here-documents."""
    if len(script) > MAX_LENGTH:
        return
    script = HEREDOC.sub(_blank, script)
    marks = mark_quoting(script)
    comments = {at for found in COMMENT.finditer(script) if marks[found.start()] == " " for at in range(*found.span())}
    starts = [0, *(at + 1 for at, character in enumerate(script) if character in "\n;|&" and marks[at] == " ")]
    for found in VARIABLE.finditer(script):
        at = found.start()
        if marks[at] == "'" or at in comments:
            continue
        before = script[starts[bisect_right(starts, at) - 1] : at]
        yield VariableUse(found[1] or found[2], at, found.end(), _classify_use(before, marks[at]))


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _classify_use(before: str, mark: str) -> str:
    code = INTERPRETER.search(before)
    if code is not None:
        return " ".join(code[1].split())
    return "quoted" if mark == '"' or UNSPLIT.search(before) else "bare"
