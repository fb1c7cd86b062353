"""Reads an arbiter's answer: which findings are worth a change, which are declined and why.

Decisions on single findings count; the overall `actionable` settles only those that no decision names. An answer that
cannot be understood declines nothing: a finding is never lost through a garbled answer.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from handrail.engine.review.finding import MAX_TEXT_LENGTH, Finding, clip_text
from handrail.frozen import frozen
from handrail.model.workflow.values import JsonValue

NO_REASON = "the arbiter gave no reason"

_FLAGS = ("actionable", "needs_fixes", "is_actionable")
_LISTS = ("decisions", "findings", "judgements", "verdicts", "results")
_WORDS: Mapping[str, bool] = MappingProxyType(
    {
        **dict.fromkeys(("accept", "accepted", "actionable", "yes", "true", "fix", "valid", "keep", "confirmed"), True),
        **dict.fromkeys(("decline", "declined", "reject", "rejected", "no", "false", "wrong", "invalid"), False),
        **dict.fromkeys(
            ("dismiss", "dismissed", "ignore", "skip", "duplicate", "wontfix", "not", "none", "nothing"), False
        ),
        **dict.fromkeys(
            ("cannot-happen", "out-of-scope", "not-worth-it", "false-positive", "nothing", "won't-fix"), False
        ),
    }
)
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
_FLAGGED = re.compile(r"\b(?:actionable|needs[_ ]fixes)\W{1,4}(true|false|yes|no)\b", re.IGNORECASE)
_FIRST = re.compile(
    r"\W*(yes|no|true|false|not|none|nothing|actionable|accept(?:ed)?|declined?|reject(?:ed)?)\b", re.IGNORECASE
)
_LINE = re.compile(r"\W*([\w.-]+)\W+(accept(?:ed)?|declined?|reject(?:ed)?)\b\W*(.*)", re.IGNORECASE)


@frozen(kw_only=True)
class Judgement:
    """The decisions of an arbiter."""

    actionable: bool
    accepted: tuple[str, ...] = ()
    declined: tuple[tuple[str, str], ...] = ()
    """Ids of declined findings, each with the reason."""
    reason: str = ""
    understood: bool = True
    """False if the answer said neither yes nor no, so that everything stays open."""


@frozen
class _Decision:
    accepts: bool
    reason: str


def read_judgement(data: JsonValue, text: str, findings: Sequence[Finding]) -> Judgement:
    """Read an arbiter's data, or its text if it gave none."""
    answer: dict[str, JsonValue] = data if isinstance(data, dict) else {}
    if isinstance(data, list):
        answer = {"decisions": data}
    decisions = _read_decisions(answer, findings) or _read_decision_lines(text, findings)
    flag = data if isinstance(data, bool) else _flag(answer)
    if flag is None:
        flag = _find_flag_in_text(text)
    reason = clip_text(str(answer.get("reason") or ("" if data is not None else text)), MAX_TEXT_LENGTH)
    return _build_judgement(findings, decisions, flag, reason)


def _build_judgement(
    findings: Sequence[Finding], decisions: Mapping[str, _Decision], flag: bool | None, reason: str
) -> Judgement:
    rest = _Decision(flag is not False, reason)
    each = {one.id: decisions.get(one.id, rest) for one in findings}
    accepted = tuple(sorted(id_ for id_, decision in each.items() if decision.accepts))
    declined = tuple(sorted((id_, each[id_].reason or NO_REASON) for id_ in each if id_ not in accepted))
    actionable = bool(accepted) if findings else flag is True
    understood = flag is not None or bool(decisions)
    return Judgement(actionable=actionable, accepted=accepted, declined=declined, reason=reason, understood=understood)


def _flag(answer: Mapping[str, JsonValue]) -> bool | None:
    return next((flag for key in _FLAGS if (flag := _yes_or_no(answer.get(key))) is not None), None)


def _yes_or_no(value: JsonValue) -> bool | None:
    if isinstance(value, bool):
        return value
    if not isinstance(value, str):
        return None
    bare = re.sub(r"[\s_]+", "-", value.strip().casefold())
    first = _WORD.match(bare)
    known = _WORDS.get(bare)
    return known if known is not None or first is None else _WORDS.get(first[0].split("-")[0])


def _find_flag_in_text(text: str) -> bool | None:
    flagged = _FLAGGED.search(text)
    if flagged:
        return _yes_or_no(flagged[1])
    first = _FIRST.match(text)
    return _yes_or_no(first[1]) if first else None


def _read_decisions(answer: Mapping[str, JsonValue], findings: Sequence[Finding]) -> dict[str, _Decision]:
    entries = [*_entries(answer), *_read_side(answer, "accepted", "accept"), *_read_side(answer, "declined", "decline")]
    decisions: dict[str, _Decision] = {}
    for at, entry in enumerate(entries):
        one = _find_finding_id(entry, findings, decisions, at if len(entries) == len(findings) else None)
        given = (entry.get(key) for key in ("decision", "verdict", "actionable", "accept", "judgement", "status"))
        accepts = next((flag for each in given if (flag := _yes_or_no(each)) is not None), None)
        if one is not None and accepts is not None:
            decisions[one] = _Decision(accepts, clip_text(str(entry.get("reason") or ""), MAX_TEXT_LENGTH))
    return decisions


def _entries(answer: Mapping[str, JsonValue]) -> list[dict[str, JsonValue]]:
    listed = (found for key in _LISTS if isinstance(found := answer.get(key), list))
    return [entry for entry in next(listed, ()) if isinstance(entry, dict)]


def _read_side(answer: Mapping[str, JsonValue], key: str, decision: str) -> Iterable[dict[str, JsonValue]]:
    """Read `accepted: [id]`, `declined: [{id, reason}]` and `declined: {id: reason}`."""
    given = answer.get(key)
    if isinstance(given, dict):
        return [{"id": id_, "reason": reason, "decision": decision} for id_, reason in given.items()]
    items = given if isinstance(given, list) else []
    return [
        {**(item if isinstance(item, dict) else {"id": item}), "decision": decision}
        for item in items
        if isinstance(item, dict | str)
    ]


def _find_finding_id(
    entry: Mapping[str, JsonValue], findings: Sequence[Finding], taken: Mapping[str, object], at: int | None
) -> str | None:
    """Find the finding that a decision is about: by id, by place and rule, or by its position in a full list."""
    named = entry.get("id")
    free = [one for one in findings if one.id not in taken]
    if named:
        return next((one.id for one in free if named in (one.id, one.label)), None)
    if "file" not in entry and "rule" not in entry:
        return findings[at].id if at is not None else None
    there = [
        one
        for one in free
        if all(entry.get(key, mine) == mine for key, mine in {"file": one.file, "rule": one.rule}.items())
    ]
    nearest = [one for one in there if one.line == entry.get("line")] or there
    return nearest[0].id if nearest else None


def _read_decision_lines(text: str, findings: Sequence[Finding]) -> dict[str, _Decision]:
    """Read lines such as `- ID: declined, because ...`."""
    ids = {name: one.id for one in reversed(findings) for name in (one.label, one.id) if name}
    read = (_LINE.fullmatch(line) for line in text[: MAX_TEXT_LENGTH * 10].splitlines())
    return {
        ids[found[1]]: _Decision(found[2][0] in "aA", clip_text(found[3], MAX_TEXT_LENGTH))
        for found in read
        if found and found[1] in ids
    }
