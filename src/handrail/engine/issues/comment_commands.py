"""Reads what a comment asks for: `/approve`, `/revise TEXT`, `/reject`, `/answer TEXT` or `/stop`.

1. A command stands at the very beginning of a line, in exactly this form. Nothing else ever counts as a decision.
2. Quoted lines, lines that a Markdown reader adds to a quotation, code blocks and HTML comments are skipped.
3. A comment with several commands is refused: nobody has to guess which one was meant.
4. The name of a run may follow the command. The text of `/revise` and `/answer` goes on to the end of the comment.
"""

import re
from collections.abc import Collection
from typing import cast

from handrail.frozen import frozen
from handrail.model.history.issue_work import CommentVerb

WITH_TEXT = frozenset({"revise", "answer"})
_COMMAND = re.compile(r"/(?P<verb>approve|revise|reject|answer|stop)(?:[ \t]+(?P<rest>.*))?\Z")
_FIRST = re.compile(r"(?P<run>[^\s:]+):?(?:[ \t]+|\Z)")
_RUN = re.compile(r"work-[A-Za-z0-9.-]+-a[0-9]+")
_FENCE = re.compile(r" {0,3}(?P<run>`{3,}|~{3,})")
_HTML_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


@frozen
class CommentCommand:
    """What a comment asks for."""

    verb: CommentVerb
    run: str = ""
    """The run that it names, if it names one."""
    text: str = ""
    problem: str = ""
    """Why it cannot be followed."""


def read_command(body: str, runs: Collection[str] = ()) -> CommentCommand | None:
    """Read the command of a comment; None if it contains none.

    `runs` are the names that count as those of runs whatever their form; the others are part of the text.
    """
    lines = _HTML_COMMENT.sub("", body.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    found = [(index, match) for index in _own_lines(lines) if (match := _COMMAND.match(lines[index]))]
    if not found:
        return None
    index, match = found[0]
    verb, rest = cast("CommentVerb", match["verb"]), match["rest"] or ""
    if len(found) > 1:
        return CommentCommand(verb, problem="it contains more than one command; write one command per comment")
    named = _FIRST.match(rest)
    if named is None or not (named["run"] in runs or _RUN.fullmatch(named["run"])):
        run, text = "", rest
    else:
        run, text = named["run"], rest[named.end() :]
    if verb in WITH_TEXT:
        text = "\n".join([text, *lines[index + 1 :]]).strip()
        problem = "" if text else f"`/{verb}` needs a text after it"
        return CommentCommand(verb, run, text, problem)
    if text.strip():
        return CommentCommand(verb, run, "", f"`/{verb}` takes nothing but the name of a run after it")
    return CommentCommand(verb, run)


def _own_lines(lines: list[str]) -> list[int]:
    """List the lines that are neither quoted nor code."""
    found: list[int] = []
    fence, quoted = "", False
    for index, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence:
            closes = mark is not None and mark["run"].startswith(fence) and not line[mark.end() :].strip()
            fence = "" if closes else fence
        elif mark is not None:
            fence, quoted = mark["run"], False
        elif line.lstrip(" ").startswith(">"):
            quoted = True
        elif not line.strip():
            quoted = False
        elif not quoted and not line.startswith(("    ", "\t")):
            found.append(index)
    return found
