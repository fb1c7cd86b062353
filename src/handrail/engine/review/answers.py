"""Reads the answers of reviewer and arbiter of a review loop as data, and defines the schemas that they are asked for.

An answer counts only in the requested form: a map with a list `findings`, each item a map with a message; of an
arbiter, a map that decides. Any other text is not an answer: neither a finding nor a clean review.
The readers of prose serve loops that began before this rule.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import cast

from handrail.engine.review.arbiter import Judgement
from handrail.engine.review.arbiter import read_judgement as judgement_of
from handrail.engine.review.finding import MAX_TEXT_LENGTH, SEVERITIES, Finding, make_finding, rank
from handrail.engine.review.prose_findings import finding_in, findings_in, says_nothing
from handrail.model.workflow.values import JsonValue

__all__ = [
    "JUDGE_SCHEMA",
    "REVIEW_SCHEMA",
    "Finding",
    "Judgement",
    "judgement_problem",
    "read_findings",
    "read_judgement",
    "review_problem",
]

MAX_FINDINGS = 100
"""The most findings of one round; the most severe ones are retained."""
MAX_DATA_LENGTH = 1_000_000

_LISTS = ("findings", "issues", "problems", "comments", "violations")
_TEXTS = ("message", "text", "description", "issue", "detail", "details", "comment", "body", "title", "summary")
_FILES = ("file", "path", "filename", "file_path", "location")
_LINES = ("line", "line_number", "start_line", "lines")
_RULES = ("rule", "rule_id", "category", "code", "check", "type")
_SEVERITIES = ("severity", "priority", "level")
_SUGGESTIONS = ("suggestion", "suggested_fix", "fix", "recommendation")
_SETTLED = frozenset({"fixed", "resolved", "closed", "done"})
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL)


def _object(required: Sequence[str], **properties: JsonValue) -> dict[str, JsonValue]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": True,
    }


REVIEW_SCHEMA: dict[str, JsonValue] = _object(
    ["findings"],
    findings={
        "type": "array",
        "items": _object(
            ["file", "rule", "severity", "message"],
            id={"type": "string"},
            file={"type": "string"},
            line={"type": ["integer", "null"]},
            rule={"type": "string"},
            severity={"enum": list(SEVERITIES)},
            message={"type": "string"},
            suggestion={"type": "string"},
        ),
    },
)
"""The schema of a reviewer's answer."""

JUDGE_SCHEMA: dict[str, JsonValue] = _object(
    ["decisions", "actionable"],
    decisions={
        "type": "array",
        "items": _object(
            ["decision", "reason"],
            id={"type": "string"},
            file={"type": "string"},
            line={"type": ["integer", "null"]},
            rule={"type": "string"},
            decision={"enum": ["accept", "decline"]},
            reason={"type": "string"},
        ),
    },
    actionable={"type": "boolean"},
    reason={"type": "string"},
)
"""The schema of an arbiter's answer: a decision for each finding, named by its id or by file, line and rule."""


def read_findings(output: JsonValue, text: str) -> tuple[Finding, ...]:
    """Read a reviewer's findings from its data, else from its text; the most severe first, each once."""
    return _deduplicate(_read(output, text))


def read_judgement(output: JsonValue, text: str, findings: Sequence[Finding]) -> Judgement:
    """Read an arbiter's answer about the findings that it was shown."""
    data = output if isinstance(output, dict | list | bool) else _data_in(_words(output, text))
    return judgement_of(data, _words(output, text), findings)


def review_problem(output: JsonValue, text: str) -> str:
    """Explain what is wrong with the form of a reviewer's answer; empty if it is as requested."""
    data = _data(output, text)
    if not isinstance(data, dict):
        return f"it must be a JSON object with a list `findings`, empty if there is nothing to fix; it is {_kind(data)}"
    listed = data.get("findings")
    if not isinstance(listed, list):
        return "it has no list `findings`; if nothing is wrong, the list is empty"
    wrong = (number for number, item in enumerate(listed, 1) if not isinstance(item, dict) or not _first(item, _TEXTS))
    number = next(wrong, None)
    return "" if number is None else f"item {number} of `findings` is not an object with a `message`"


def judgement_problem(output: JsonValue, text: str, findings: Sequence[Finding]) -> str:
    """Explain what is wrong with the form of an arbiter's answer; empty if it is as requested."""
    data = _data(output, text)
    if not isinstance(data, dict):
        return f"it must be a JSON object with `decisions` and `actionable`; it is {_kind(data)}"
    if not judgement_of(data, "", findings).understood:
        return (
            "it decides nothing: `actionable` must be true or false, or `decisions` must name the findings by their id"
        )
    return ""


def _data(output: JsonValue, text: str) -> JsonValue:
    return output if isinstance(output, dict | list) else _data_in(_words(output, text))


def _kind(data: JsonValue) -> str:
    return "a list" if isinstance(data, list) else "text"


def _words(output: JsonValue, text: str) -> str:
    return output if isinstance(output, str) and output.strip() else text


def _read(output: JsonValue, text: str) -> Iterable[Finding]:
    data = _data(output, text)
    listed = _find_list(data)
    if listed is not None:
        return (each for item in listed if (each := _read_finding(item)) is not None)
    if isinstance(data, dict) and _approves(data):
        return ()
    if isinstance(data, dict) and (each := _read_finding(data)) is not None:
        return (each,)
    prose = _words(output, text)
    return findings_in(prose if prose.strip() or data is None else json.dumps(data))


def _data_in(text: str) -> JsonValue:
    """Find JSON in a text: all of it, or its last fenced block that is JSON."""
    answer = text.strip()[:MAX_DATA_LENGTH]
    for part in (answer, *reversed(_FENCED.findall(answer))):
        if not part.lstrip().startswith(("{", "[")):
            continue
        try:
            return cast("JsonValue", json.loads(part))
        except (ValueError, RecursionError):
            continue
    return None


def _find_list(data: JsonValue) -> list[JsonValue] | None:
    if isinstance(data, list):
        return data
    if not isinstance(data, dict):
        return None
    for holder in (data, data.get("outputs"), data.get("output")):
        for key in _LISTS if isinstance(holder, dict) else ():
            found = holder.get(key) if isinstance(holder, dict) else None
            if isinstance(found, list):
                return found
    return None


def _approves(data: dict[str, JsonValue]) -> bool:
    return data.get("approved") is True or str(data.get("decision", "")).casefold() in {"approve", "approved"}


def _read_finding(item: JsonValue) -> Finding | None:
    if isinstance(item, str):
        return _read_text_finding(item)
    if not isinstance(item, dict) or str(item.get("status", "")).casefold() in _SETTLED or item.get("resolved") is True:
        return None
    message = _first(item, _TEXTS)
    if not message:
        return None
    number = re.search(r"\d{1,9}", _first(item, _LINES))
    return make_finding(
        message,
        severity=_first(item, _SEVERITIES),
        file=_first(item, _FILES),
        line=int(number[0]) if number else None,
        rule=_first(item, _RULES),
        suggestion=_first(item, _SUGGESTIONS),
        label=_first(item, ("id",)),
    )


def _read_text_finding(text: str) -> Finding | None:
    if not text.strip() or says_nothing(text):
        return None
    bounded = text[:MAX_TEXT_LENGTH]
    return finding_in(bounded) or make_finding(bounded)


def _first(item: dict[str, JsonValue], keys: Iterable[str]) -> str:
    for key in keys:
        value = item.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return str(value)
    return ""


def _deduplicate(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Drop duplicates; the same text about several lines is several findings, numbered from the top."""
    ordered = sorted(found, key=_order)
    once: dict[tuple[str, int | None], Finding] = {}
    for each in ordered:
        once.setdefault((each.id, each.line), each)
    seen: Counter[str] = Counter()
    result: list[Finding] = []
    for each in sorted(once.values(), key=lambda one: (one.line or 0, _order(one))):
        seen[each.id] += 1
        count = seen[each.id]
        result.append(each if count == 1 else replace(each, id=f"{each.id}-{count}"))
    return tuple(sorted(result, key=_order)[:MAX_FINDINGS])


def _order(each: Finding) -> tuple[int, str, int, str, str, str, str]:
    return rank(each.severity), each.file, each.line or 0, each.rule, each.text, each.suggestion, each.label
