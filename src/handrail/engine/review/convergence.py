"""Decides when a review loop stops, and for which reason.

A reviewer asked often enough always finds something, and a fixer can break one thing while fixing another. A loop that
only counts rounds therefore either stops too early or spends its budget on going in circles. This module remembers
what each round found, in a ledger, and stops as soon as the history shows that the work is done or that another round
would not help. The ledger is plain data inside the run's state, and `verdict` is a pure function of it, so a resumed
run stops in the same round as an uninterrupted one.

In a *round* the reviewer reports; the arbiter, if there is one, judges; what is left open is fixed. A finding is
*open* in a round if it was reported and has never been declined; it *counts* if its severity is at or above
`converge.severity`. The *burden* of a round is the sum of `SEVERITY_WEIGHTS` over the findings that count. The first of
these that holds is the reason:

- `clean`: after a review, nothing open counts. Findings below the severity stay listed as open.
- `declined`: after a judgement, nothing open counts any more, or the arbiter finds nothing actionable. Each finding
  has its reason, and stays declined for good: if it is reported again, it is not open.
- `oscillation`: after a fix, exactly the findings that counted in an earlier round count again, and at least one of
  them was gone in the round before: A, B, A. The fixes go in circles.
- `reseeded`: after a fix, a finding that was gone in the round before is back, but the set as a whole is new:
  A and B, then B, then A and C. The fix of one thing broke the repair of another.
- `repeated`: after a fix, exactly the findings that counted in the round before count again: the fix, which was meant
  for them, changed nothing.
- `plateau`: for `converge.plateau` rounds the burden has not gone below its lowest: new findings replace the old ones.

`met` (the workflow's `exit_when` held), `max` (no round is left) and `no_answer` (reviewer or arbiter gave no answer in
the requested form, though asked twice) are decided by the caller. The four from `oscillation` on look at what the
arbiter leaves open, so in a loop with an arbiter they apply only after its judgement; `converge: off` disables them.
A reviewer that only ever drops findings triggers none of them and ends `clean`.

Findings are distinguished by their identity (`finding`). Phrased differently, a finding is still the same if the
reviewer repeats its id, or if file and rule agree, the texts share most of their words, and no name in the code
differs. Declined findings are matched by identity or id only, so that nothing is silenced by mere similarity.

The result of a loop that decides: `score` is 100 less the burden of everything open, at least 0. `decision` is
`reject` with an open critical or high finding; else `needs_clarification` if something that counts is open and
`exit_when` was not met, or if there was no answer; else `approve`. `confidence` says how settled that is, by the
reason alone (`CONFIDENCE`).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from handrail.engine.review.arbiter import NO_REASON, Judgement
from handrail.engine.review.finding import SEVERITIES, Finding, compare_labels, likeness, rank
from handrail.engine.review.prose_findings import UNREVIEWED
from handrail.frozen import frozen
from handrail.model.codec import decode, encode
from handrail.model.workflow.values import JsonValue

SEVERITY_WEIGHTS = {"critical": 40, "high": 20, "medium": 5, "low": 1}
"""The weight of an open finding: one critical is as bad as two high, eight medium or forty low ones."""

CONFIDENCE = {"clean": 1.0, "met": 1.0, "declined": 1.0, "repeated": 0.75, "plateau": 0.5, "max": 0.5}
UNSETTLED = 0.25
"""The confidence if fixes undo each other."""


@frozen
class Declined:
    """A finding that the arbiter does not want fixed."""

    id: str
    reason: str


@frozen(kw_only=True)
class Round:
    """The result of one round; ids are sorted, so that the order of a report does not matter."""

    open: tuple[str, ...]
    counting: tuple[str, ...]
    burden: int
    known_as: tuple[tuple[str, str], ...] = ()
    """Ids as this round's wording yields them, with the ids under which the findings are known."""
    actionable: bool | None = None
    """The arbiter's decision; None if it was not asked."""
    fixed: bool = False


@frozen(kw_only=True)
class Ledger:
    """Everything that a review loop remembers of its rounds."""

    severity: str
    plateau: int
    enabled: bool
    known: tuple[Finding, ...] = ()
    """Every finding ever reported, in its latest wording."""
    declined: tuple[Declined, ...] = ()
    rounds: tuple[Round, ...] = ()


def begin(severity: str, plateau: int, enabled: bool) -> JsonValue:
    """Return the ledger of a loop before its first round."""
    bar = severity if severity in SEVERITIES else "low"
    return encode(Ledger(severity=bar, plateau=max(plateau, 1), enabled=enabled))


def record_review(ledger: JsonValue, findings: Sequence[Finding]) -> JsonValue:
    """Begin a round with the reviewer's findings."""
    book = read(ledger)
    known_as = _recognize_findings(book, findings)
    found = {known_as[each.id]: replace(each, id=known_as[each.id]) for each in findings}
    known = {**{each.id: each for each in book.known}, **found}
    declined = {each.id for each in book.declined}
    grown = replace(book, known=tuple(known[id_] for id_ in sorted(known)))
    this = _round(grown, (id_ for id_ in found if id_ not in declined))
    return encode(replace(grown, rounds=(*book.rounds, replace(this, known_as=tuple(sorted(known_as.items()))))))


def record_judgement(ledger: JsonValue, judgement: Judgement) -> JsonValue:
    """Remove from the round what the arbiter declined."""
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


def record_fix(ledger: JsonValue) -> JsonValue:
    """Record that a fix was made in this round."""
    book = read(ledger)
    return encode(replace(book, rounds=(*book.rounds[:-1], replace(book.rounds[-1], fixed=True))))


def verdict(ledger: JsonValue) -> str | None:
    """Return the reason to stop now, after a review or a judgement; None to continue."""
    book = read(ledger)
    if not book.rounds:
        return None
    this = book.rounds[-1]
    if this.actionable is None and not this.counting:
        return "clean"
    if this.actionable is False or not this.counting:
        return "declined"
    awaits_arbiter = this.actionable is None and any(each.actionable is not None for each in book.rounds)
    return None if awaits_arbiter or not book.enabled else _stuck_reason(book)


def names(ledger: JsonValue) -> dict[str, JsonValue]:
    """Return what `exit_when` and the prompts of the roles may name; the caller adds `cost`."""
    book = read(ledger)
    found = open_findings(ledger)
    grades = Counter(each.severity for each in found)
    return {
        "round": len(book.rounds),
        "findings": [each.record() for each in found],
        "open": {severity: grades[severity] for severity in SEVERITIES},
        "actionable": _is_actionable(book),
    }


def result(ledger: JsonValue, stopped: str, decides: bool) -> dict[str, JsonValue]:
    """Build the result of the loop."""
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
        "actionable": _is_actionable(book),
    }
    return {**outcome, **_decision_fields(book, stopped, still_open)} if decides else outcome


def open_findings(ledger: JsonValue) -> tuple[Finding, ...]:
    """List the open findings of this round under their known ids, the most severe first."""
    book = read(ledger)
    return findings_of(book, book.rounds[-1].open if book.rounds else ())


def read(ledger: JsonValue) -> Ledger:
    """Decode a stored ledger."""
    return decode(Ledger, ledger)


def findings_of(book: Ledger, ids: Iterable[str]) -> tuple[Finding, ...]:
    """Look up known findings by their ids, the most severe first."""
    wanted = set(ids)
    found = (each for each in book.known if each.id in wanted)
    return tuple(sorted(found, key=lambda each: (rank(each.severity), each.file, each.line or 0, each.id)))


def _is_actionable(book: Ledger) -> bool:
    """Return the arbiter's decision or, if it has not judged this round, whether anything that counts is open."""
    if not book.rounds:
        return False
    this = book.rounds[-1]
    return bool(this.counting) if this.actionable is None else this.actionable


def _decision_fields(book: Ledger, stopped: str, still_open: Sequence[Finding]) -> dict[str, JsonValue]:
    unseen = stopped == "no_answer" or any(each.rule == UNREVIEWED for each in still_open)
    grave = any(rank(each.severity) <= rank("high") for each in still_open if each.rule != UNREVIEWED)
    unsettled = unseen or (stopped != "met" and bool(book.rounds) and bool(book.rounds[-1].counting))
    return {
        "score": max(0, 100 - sum(SEVERITY_WEIGHTS[each.severity] for each in still_open)),
        "confidence": CONFIDENCE.get(stopped, UNSETTLED),
        "decision": "reject" if grave else "needs_clarification" if unsettled else "approve",
    }


def _round(book: Ledger, ids: Iterable[str]) -> Round:
    found = findings_of(book, ids)
    counting = [each for each in found if rank(each.severity) <= rank(book.severity)]
    return Round(
        open=tuple(sorted(each.id for each in found)),
        counting=tuple(sorted(each.id for each in counting)),
        burden=sum(SEVERITY_WEIGHTS[each.severity] for each in counting),
    )


def _stuck_reason(book: Ledger) -> str | None:
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


def _recognize_findings(book: Ledger, findings: Sequence[Finding]) -> dict[str, str]:
    """Map each finding to the id under which it is known; each known id is used once in a round."""
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
    """Pair findings that may be the same in other words, the most similar first."""
    declined = {each.id for each in book.declined}
    pairs = ((each, other) for other in book.known for each in fresh)
    return [
        (-alike, other.id, each.id)
        for each, other in pairs
        if (alike := compare_labels(each, other) or (0 if other.id in declined else likeness(each, other))) > 0
    ]
