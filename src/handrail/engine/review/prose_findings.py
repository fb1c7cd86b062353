"""Reads findings from a reviewer's prose: list items with a place or a severity, lines that begin with a place.

If no item has either, the whole text is one finding of medium severity, unless it plainly says that there is none.
"""

import re
from collections.abc import Iterable

from handrail.engine.review.finding import (
    MAX_TEXT_LENGTH,
    SEVERITY_WORDS,
    Finding,
    clip_text,
    make_finding,
    parse_place,
    severity_of,
)
from handrail.frozen import frozen

MAX_ANSWER_LENGTH = 100_000
UNREVIEWED = "not-reviewable"
"""The rule under which a reviewer says that it could not review."""

_SEVERITY = "(" + "|".join(sorted(SEVERITY_WORDS, key=len, reverse=True)) + ")"
_MARKED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\(?\bseverity\W{{1,6}}{_SEVERITY}\b\W?",
        rf"\b{_SEVERITY}[- ](?:severity|priority)\b",
        rf"[\[(*`]{{1,3}}{_SEVERITY}[\])*`:]{{1,4}}",
        rf"^\W*{_SEVERITY}\s*(?::|\||[-–—]\s)",
    )
)
_ITEM = re.compile(r"(\s*)(?:(?:[-*•+]|\d{1,3}[.)])\s+|(?=[`*\[(]{0,3}[\w.@+/-]{1,300}(?::|#L)\d))(.*)")
_HEADING = re.compile(r"#{1,6}\s+(.*)|\*\*([^*]+)\*\*:?\s*$")
_PATH = r"(?<![\w:/.@+-])(?:[\w.@+-]+/)*[\w.@+-]*\w"
_PLACES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"`?({_PATH}(?::\d+(?:[:-]\d+)*|#L\d+(?:-L?\d+)?|\.\w{{1,8}}\s+line\s+\d+))`?",
        r"`?((?<![\w:/.@+-])(?:[\w.@+-]+/)+[\w.@+-]*\w\.\w{1,8})\b`?",
        r"^\W*([\w@+-][\w.@+-]*\.[A-Za-z]\w{0,7})`?\**\s*(?::|[-–—(]\s?)",
    )
)
_RULE = re.compile(r"\[([a-z][a-z0-9]*(?:-[a-z0-9]+)+)\]")
_SUGGESTION = re.compile(r"\b(?:suggestion|suggested fix|fix|recommendation)\**\s*:\s*", re.IGNORECASE)
_QUALITY = "any|further|new|more|other|remaining|actionable|open|significant|major|critical|blocking|serious"
_GRADE = "additional|outstanding|real|or|and|high|medium|low|severity"
_NOTHING = re.compile(
    rf"\b(?:no|zero|0|not find|not see)\s+(?:(?:{_QUALITY}|{_GRADE})[\s-]+){{0,4}}"
    r"(?:findings?|issues?|problems?|concerns?|objections?|comments?)\b|\blgtm\b|\blooks (?:good|fine|correct)\b"
    r"|\bnothing\s+(?:(?:more|else|left|further|new|actionable|worth|to)\s+){0,3}(?:report|fix|add|change|found|flag|fixing)\b"
    r"|^\W*(?:none|approved?|clean|all good|ship it|nothing)\W*$",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"\W*(?:(?:i|we)(?:'ve| have)? )?(?:also )?(?:re-?)?(?:(?:reviewed|checked|read|looked|verified|ran|went)\b"
    r"|(?:all |the )*(?:tests|checks|suite)( all)? (?:pass|are green|is green)"
    r"|(?:all |the |previous |earlier |reported )+(?:findings|issues) (?:are|were|have been) (?:all )?"
    r"(?:fixed|resolved|repaired)"
    r"|(?:great|good|nice|solid|clean) (?:work|job|change|fix)|thanks|thank you|summary\W*$|review\W*$|verdict\W*$)",
    re.IGNORECASE,
)
_YET = re.compile(r"\b(?:but|except|however|although|though|apart from|aside from|than|unless)\b", re.IGNORECASE)
_TROUBLE = re.compile(
    r"\b(?:not|never|cannot|without|fail|crash|wrong|miss|broke|break|bug|error|leak|lack|should|must|race|overflow"
    r"|unsafe|lost|lose|which|it)|n't\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?;,](?:\s|$)|\n(?:#.*)?|^#.*")
_MAX_EMPTY_LENGTH = 600


@frozen
class _Item:
    text: str
    severity: str = ""
    """The severity in the heading above it."""


def findings_in(text: str) -> tuple[Finding, ...]:
    """Read the findings of a text that is not structured data."""
    answer = text.strip()[:MAX_ANSWER_LENGTH]
    if not answer:
        return (make_finding("the reviewer gave no answer", severity="high", rule=UNREVIEWED),)
    found = tuple(each for item in _items(answer.splitlines()) if (each := finding_in(item.text, item.severity)))
    if found:
        return found
    return () if says_nothing(answer) else (make_finding(clip_text(answer, MAX_TEXT_LENGTH), severity="medium"),)


def finding_in(text: str, severity: str = "") -> Finding | None:
    """Read one list item; None if it names neither place nor severity."""
    marked, rest = _take_severity(text[: 2 * MAX_TEXT_LENGTH])
    where, rest = _take_place(rest)
    if not marked:
        marked, rest = _take_severity(rest)
    if not (marked or where or severity) or _only_says_nothing(rest):
        return None
    rules, rest = _take_match((_RULE,), rest)
    message, _, suggestion = _split(rest)
    file, line = parse_place(where)
    return make_finding(
        message or text, severity=marked or severity, file=file, line=line, rule=rules, suggestion=suggestion
    )


def says_nothing(text: str) -> bool:
    """Whether a text plainly states that there is nothing to object to."""
    if len(text) > _MAX_EMPTY_LENGTH or _YET.search(text):
        return False
    sentences = [each for each in _SENTENCE_END.split(text) if re.search(r"\w", each)]
    plain = [each for each in sentences if _NOTHING.search(each)]
    others = [each for each in sentences if each not in plain]
    return bool(plain) and all(_FILLER.match(each) and not _TROUBLE.search(each) for each in others)


def _only_says_nothing(text: str) -> bool:
    bare = text.strip(" .:*-")
    return bare.casefold() in {"none", "n/a", "nothing"} or (len(bare) < 60 and says_nothing(bare))


def _items(lines: Iterable[str]) -> tuple[_Item, ...]:
    """Collect list items with the lines that belong to them; nested items belong to the item above."""
    items: list[_Item] = []
    severity, margin, inside = "", 0, False
    for line in lines:
        head, item = _HEADING.match(line), _ITEM.match(line)
        if head:
            word = re.search(rf"\b{_SEVERITY}s?\b", head[1] or head[2], re.IGNORECASE)
            severity, inside = severity_of(word[1]) if word else "", False
        elif item and (not inside or len(item[1]) <= margin):
            items.append(_Item(item[2], severity))
            margin, inside = len(item[1]), True
        elif inside and line.strip():
            items[-1] = _Item(f"{items[-1].text}\n{line.strip()}", items[-1].severity)
        else:
            inside = inside and bool(items) and not line.strip()
    return tuple(items)


def _take_severity(text: str) -> tuple[str, str]:
    word, rest = _take_match(_MARKED, text)
    return (severity_of(word), rest) if word else ("", text)


def _take_place(text: str) -> tuple[str, str]:
    """Return the place, and the text without it if the text begins with it; inside a sentence it stays."""
    where, rest = _take_match(_PLACES, text)
    at_start = bool(where) and re.search(r"\w", text[: text.index(where)]) is None
    return where, rest if at_start else text


def _take_match(patterns: Iterable[re.Pattern[str]], text: str) -> tuple[str, str]:
    """Return what the first matching pattern finds, and the text without it."""
    for pattern in patterns:
        found = pattern.search(text)
        if found:
            return found[1], f"{text[: found.start()]} {text[found.end() :]}".strip(" \t\n:-–—|*")
    return "", text


def _split(text: str) -> tuple[str, str, str]:
    found = _SUGGESTION.search(text)
    if found is None or found.start() == 0:
        return text, "", ""
    return text[: found.start()].rstrip(" -*\n"), found[0], text[found.end() :]
