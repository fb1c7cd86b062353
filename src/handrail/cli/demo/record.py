"""Reads the log of the demo: the state of the run, its timeline, and what can be proven from it."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, cast

from handrail.cli.demo.terminal import RUN
from handrail.frozen import frozen
from handrail.model.history import events as ev
from handrail.operations.views.event_sentences import agent_words, spending_in
from handrail.operations.views.money import price_words
from handrail.operations.views.run_document import events_of, state_of
from handrail.operations.views.run_tree import family
from handrail.operations.views.step_addresses import members
from handrail.ports.log import Log

CUT_OFF = "build[receipt]/test/fix"
"""The step in the middle of which the process is killed."""
DONE_BEFORE = "total"
"""The item that is done by then."""
AGENT, PERSON, HANDRAIL = "agent", "you", "handrail"


@frozen
class TimelineBar:
    """One step in the timeline."""

    address: str
    who: str
    began: float
    ended: float
    ok: bool = True
    cost: str = ""


def is_half_done(log: Log) -> bool:
    """Whether one item is done while the agent of the other is at work."""
    events = [event for run in family(log, RUN) for _, event in events_of(log, run)]
    done = any(isinstance(event, ev.ItemEnded) and event.key == DONE_BEFORE for event in events)
    return done and any(isinstance(event, ev.StepBegan) and event.address == CUT_OFF for event in events)


def fingerprints(log: Log) -> dict[str, tuple[str, ...]]:
    """Return the hash of every event of the run and its items, in order."""
    return {run: tuple(stored.hash for stored in log.read(run)) for run in family(log, RUN)}


def count_lost_events(log: Log, before: dict[str, tuple[str, ...]]) -> int:
    """Count the events that were recorded then and have disappeared or changed since."""
    now = fingerprints(log)
    return sum(
        sum(one != other for one, other in zip(hashes, now.get(run, ()), strict=False))
        + max(0, len(hashes) - len(now.get(run, ())))
        for run, hashes in before.items()
    )


def timeline(log: Log) -> tuple[TimelineBar, ...]:
    """List every step with its start and its end, in the order in which they started."""
    found = [bar for member in members(log, RUN) for bar in _bars(log, member.run)]
    return tuple(sorted(found, key=lambda bar: bar.began))


def count_repeated_tries(log: Log) -> int:
    """Count the tries that began or ended more than once."""
    began: Counter[tuple[str, str, int]] = Counter()
    ended: Counter[tuple[str, int]] = Counter()
    for run in family(log, RUN):
        for _, event in events_of(log, run):
            if isinstance(event, ev.StepBegan):
                began[run, event.address, event.attempt] += 1
            elif isinstance(event, ev.StepEnded):
                ended[run, event.began] += 1
    return sum(count - 1 for count in (*began.values(), *ended.values()))


def count_unfinished_tries(log: Log) -> int:
    """Count the tries that began and never ended."""
    events = [event for run in family(log, RUN) for _, event in events_of(log, run)]
    kinds = Counter(event.kind for event in events)
    return kinds["step_began"] - kinds["step_ended"]


def list_declined_findings(log: Log) -> list[dict[str, Any]]:
    """List the findings that the arbiter declined, each with the reason."""
    review = cast("dict[str, Any]", state_of(log, RUN).names.get("review") or {})
    return [{name: each[name] for name in ("file", "message", "reason")} for each in review.get("declined", [])]


def _bars(log: Log, run: str) -> Iterator[TimelineBar]:
    open_ones: dict[int, ev.StepBegan | ev.ApprovalRequested] = {}
    for seq, event in events_of(log, run):
        match event:
            case ev.StepBegan() | ev.ApprovalRequested():
                open_ones[seq] = event
            case ev.StepEnded() if event.began in open_ones:
                begin = open_ones.pop(event.began)
                spent = spending_in(event)
                yield TimelineBar(
                    begin.address,
                    agent_words(begin.spec) if isinstance(begin, ev.StepBegan) and begin.action == AGENT else HANDRAIL,
                    begin.at,
                    event.at,
                    event.status == "succeeded",
                    price_words(spent) if spent is not None else "",
                )
            case ev.ApprovalDecided() if event.asked in open_ones:
                begin = open_ones.pop(event.asked)
                yield TimelineBar(begin.address, PERSON, begin.at, event.at)
            case _:
                pass
