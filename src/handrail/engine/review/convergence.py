"""When a review loop stops, and with which reason.

A *round* is: the reviewer reports; where there is an arbiter, it judges; what is left open is fixed. A finding is
*open* in a round when it was reported and has never been declined; it *counts* when its severity is at or above
`converge.severity`. The *burden* of a round is the sum of `BURDEN` over the findings that count. The first of these
that holds is the reason:

- `clean`: after a review, nothing open counts. What is below the severity stays listed as open.
- `declined`: after a judgement, nothing open counts any more, or the arbiter finds nothing actionable. Each finding
  keeps its reason, and stays declined for good: reported again, it is not open.
- `oscillation`: after a fix, exactly the findings that counted in an earlier round count again, and at least one of
  them was gone in the round before: A, B, A. The fixes walk in a circle.
- `reseeded`: after a fix, a finding that was gone in the round before is back, and the whole is not an earlier one
  again: A and B, then B, then A and C. The fix of one thing broke the repair of another.
- `repeated`: after a fix, exactly the findings that counted in the round before count again: the fix, which was meant
  for them, changed nothing.
- `plateau`: for `converge.plateau` rounds the burden has not gone below its lowest: new findings take the place of
  the old ones.

`met` (the workflow's `exit_when` held), `max` (no round is left) and `no_answer` (reviewer or arbiter gave no answer in
the asked form, though asked twice) are the caller's to tell. The four from `oscillation` on look at
what the arbiter leaves open, so in a loop with an arbiter they speak only after its judgement; `converge: off`
silences them. A reviewer that only ever drops findings meets none of them and ends `clean`.

Findings are told apart by their identity (`finding`). Said in other words, a finding is still the same when
the reviewer gives its id again, or when file and rule agree, the texts share most of their words, and no name in the
code differs. Declined findings are matched by identity or id only, so that nothing is silenced by likeness.

The result of a loop that decides: `score` is 100 less the burden of everything open, at least 0. `decision` is
`reject` with an open critical or high finding; else `needs_clarification` when something that counts is open and
`exit_when` was not met, or when there was no answer; else `approve`. `confidence` says how settled that is,
by the reason alone (`CONFIDENCE`).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from handrail.engine.review.arbiter import NO_REASON, Judgement
from handrail.engine.review.finding import SEVERITIES, Finding, likeness, named_alike, rank
from handrail.engine.review.prose_findings import UNREVIEWED
from handrail.frozen import frozen
from handrail.model.codec import decode, encode
from handrail.model.workflow.values import JsonValue

BURDEN = {"critical": 40, "high": 20, "medium": 5, "low": 1}
"""What an open finding weighs: one critical is as bad as two high, eight medium or forty low ones."""

CONFIDENCE = {"clean": 1.0, "met": 1.0, "declined": 1.0, "repeated": 0.75, "plateau": 0.5, "max": 0.5}
UNSETTLED = 0.25
"""The confidence where fixes undo each other."""


@frozen
class Declined:
    """A finding that the arbiter does not want repaired."""

    id: str
    reason: str


@frozen(kw_only=True)
class Round:
    """What one round came to; ids are sorted, so that the order of a report means nothing."""

    open: tuple[str, ...]
    counting: tuple[str, ...]
    burden: int
    known_as: tuple[tuple[str, str], ...] = ()
    """Ids of this round's wording, with the ids under which the findings are known."""
    actionable: bool | None = None
    """The arbiter's word; None where it was not asked."""
    fixed: bool = False


@frozen(kw_only=True)
class Ledger:
    """Everything that a review loop remembers of its rounds."""

    severity: str
    plateau: int
    enabled: bool
    known: tuple[Finding, ...] = ()
    """Every finding ever reported, as it was said last."""
    declined: tuple[Declined, ...] = ()
    rounds: tuple[Round, ...] = ()


def begin(severity: str, plateau: int, enabled: bool) -> JsonValue:
    """Give the ledger of a loop that has had no round."""
    bar = severity if severity in SEVERITIES else "low"
    return encode(Ledger(severity=bar, plateau=max(plateau, 1), enabled=enabled))


def reviewed(ledger: JsonValue, findings: Sequence[Finding]) -> JsonValue:
    """Begin a round with what the reviewer found."""
    book = read(ledger)
    known_as = _recognized(book, findings)
    found = {known_as[each.id]: replace(each, id=known_as[each.id]) for each in findings}
    known = {**{each.id: each for each in book.known}, **found}
    declined = {each.id for each in book.declined}
    grown = replace(book, known=tuple(known[id_] for id_ in sorted(known)))
    this = _round(grown, (id_ for id_ in found if id_ not in declined))
    return encode(replace(grown, rounds=(*book.rounds, replace(this, known_as=tuple(sorted(known_as.items()))))))


def judged(ledger: JsonValue, judgement: Judgement) -> JsonValue:
    """Take out of the round what the arbiter declined."""
    book = read(ledger)
    this = book.rounds[-1]
    known_as = dict(this.known_as)
    accepted = {known_as.get(id_, id_) for id_ in judgement.accepted}
    rest = () if judgement.actionable else (id_ for id_ in this.open if id_ not in accepted)
    reasons = dict.fromkeys(rest, judgement.reason or NO_REASON)
    reasons.update({known_as.get(id_, id_): reason for id_, reason in judgement.declined})
    declined = tuple(Declined(id_, reasons[id_]) for id_ in this.open if id_ in reasons)
    left = _round(book, (id_ for id_ in this.open if id_ not in reasons))
    after = replace(left, known_as=this.known_as, actionable=judgement.actionable)
    return encode(replace(book, declined=(*book.declined, *declined), rounds=(*book.rounds[:-1], after)))


def fixed(ledger: JsonValue) -> JsonValue:
    """Note that a fix was made in this round."""
    book = read(ledger)
    return encode(replace(book, rounds=(*book.rounds[:-1], replace(book.rounds[-1], fixed=True))))


def verdict(ledger: JsonValue) -> str | None:
    """Say why to stop now, after a review or a judgement; None: go on."""
    book = read(ledger)
    if not book.rounds:
        return None
    this = book.rounds[-1]
    if this.actionable is None and not this.counting:
        return "clean"
    if this.actionable is False or not this.counting:
        return "declined"
    awaits_arbiter = this.actionable is None and any(each.actionable is not None for each in book.rounds)
    return None if awaits_arbiter or not book.enabled else _stuck(book)


def names(ledger: JsonValue) -> dict[str, JsonValue]:
    """Give what `exit_when` and the prompts of the roles may name; `cost` is the caller's to add."""
    book = read(ledger)
    found = open_findings(ledger)
    grades = Counter(each.severity for each in found)
    return {
        "round": len(book.rounds),
        "findings": [each.record() for each in found],
        "open": {severity: grades[severity] for severity in SEVERITIES},
        "actionable": _actionable(book),
    }


def result(ledger: JsonValue, stopped: str, decides: bool) -> dict[str, JsonValue]:
    """Give what the loop came to."""
    book = read(ledger)
    still_open = open_findings(ledger)
    reasons = {each.id: each.reason for each in book.declined}
    ever = {id_ for each in book.rounds for id_ in each.open}
    gone = ever - reasons.keys() - {each.id for each in still_open}
    declined = findings_of(book, reasons)
    outcome: dict[str, JsonValue] = {
        "stopped": stopped,
        "rounds": len(book.rounds),
        "fixed": [each.record() for each in findings_of(book, gone)],
        "declined": [{**each.record(), "reason": reasons[each.id]} for each in declined],
        "open_findings": [each.record() for each in still_open],
        "actionable": _actionable(book),
    }
    return {**outcome, **_decided(book, stopped, still_open)} if decides else outcome


def open_findings(ledger: JsonValue) -> tuple[Finding, ...]:
    """Give what is open in this round under the ids by which it is known, the worst first."""
    book = read(ledger)
    return findings_of(book, book.rounds[-1].open if book.rounds else ())


def read(ledger: JsonValue) -> Ledger:
    """Give a ledger as it was kept."""
    return decode(Ledger, ledger)


def findings_of(book: Ledger, ids: Iterable[str]) -> tuple[Finding, ...]:
    """Give known findings by their ids, the worst first."""
    wanted = set(ids)
    found = (each for each in book.known if each.id in wanted)
    return tuple(sorted(found, key=lambda each: (rank(each.severity), each.file, each.line or 0, each.id)))


def _actionable(book: Ledger) -> bool:
    """The arbiter's word, or, where it has not spoken in this round, whether anything that counts is open."""
    if not book.rounds:
        return False
    this = book.rounds[-1]
    return bool(this.counting) if this.actionable is None else this.actionable


def _decided(book: Ledger, stopped: str, still_open: Sequence[Finding]) -> dict[str, JsonValue]:
    unseen = stopped == "no_answer" or any(each.rule == UNREVIEWED for each in still_open)
    grave = any(rank(each.severity) <= rank("high") for each in still_open if each.rule != UNREVIEWED)
    unsettled = unseen or (stopped != "met" and bool(book.rounds) and bool(book.rounds[-1].counting))
    return {
        "score": max(0, 100 - sum(BURDEN[each.severity] for each in still_open)),
        "confidence": CONFIDENCE.get(stopped, UNSETTLED),
        "decision": "reject" if grave else "needs_clarification" if unsettled else "approve",
    }


def _round(book: Ledger, ids: Iterable[str]) -> Round:
    found = findings_of(book, ids)
    counting = [each for each in found if rank(each.severity) <= rank(book.severity)]
    return Round(
        open=tuple(sorted(each.id for each in found)),
        counting=tuple(sorted(each.id for each in counting)),
        burden=sum(BURDEN[each.severity] for each in counting),
    )


def _stuck(book: Ledger) -> str | None:
    *earlier, this = book.rounds
    if not earlier:
        return None
    last = earlier[-1]
    if last.fixed:
        gone = {id_ for each in earlier for id_ in each.open} - set(last.open)
        if gone & set(this.counting):
            return "oscillation" if any(each.counting == this.counting for each in earlier) else "reseeded"
        if this.counting == last.counting:
            return "repeated"
    burdens = [each.burden for each in book.rounds]
    return "plateau" if len(burdens) - 1 - burdens.index(min(burdens)) >= book.plateau else None


def _recognized(book: Ledger, findings: Sequence[Finding]) -> dict[str, str]:
    """Give each finding the id under which it is known; a known one is given once in a round."""
    known = {each.id for each in book.known}
    names = {each.id: each.id for each in findings if each.id in known}
    taken = set(names)
    fresh = [each for each in findings if each.id not in names]
    for _, theirs, mine in sorted(_pairs(book, fresh)):
        if mine not in names and theirs not in taken:
            names[mine] = theirs
            taken.add(theirs)
    return {each.id: names.get(each.id, each.id) for each in findings}


def _pairs(book: Ledger, fresh: Sequence[Finding]) -> list[tuple[float, str, str]]:
    """Pair what may be the same finding in other words, the most alike first."""
    declined = {each.id for each in book.declined}
    pairs = ((each, other) for other in book.known for each in fresh)
    return [
        (-alike, other.id, each.id)
        for each, other in pairs
        if (alike := named_alike(each, other) or (0 if other.id in declined else likeness(each, other))) > 0
    ]
