"""What happened in a run that is tested: the steps in the order in which they ran, and the prompts of agents."""

from dataclasses import dataclass, field, replace

from handrail.engine.state.agent_calls import call_of
from handrail.frozen import frozen
from handrail.model.history.events import (
    ApprovalDecided,
    ApprovalRequested,
    ChildStarted,
    Event,
    ItemStarted,
    QuestionAsked,
    RunBlocked,
    StepBegan,
    StepEnded,
    StepSkipped,
    WorkEntered,
    WorkLeft,
)
from handrail.model.workflow.values import JsonValue
from handrail.operations.views.step_addresses import members
from handrail.ports.log import Log
from handrail.runtime.history import events_of


@frozen
class Visit:
    """A step that was reached, once for each time it started over; further tries are counted."""

    address: str
    """Relative to the run that is tested."""
    status: str = "running"
    tries: int = 1
    words: str = ""
    """Its error, or a comment about it."""
    output: JsonValue = None
    before: str = ""
    """The error of the previous try."""

    @property
    def has_run(self) -> bool:
        """Whether it ran and was not skipped."""
        return self.status != "skipped"


@frozen
class Call:
    """An agent that was called."""

    address: str
    own: str
    """The address inside its own run, by which a script finds it."""
    turn: int
    turn_in_round: int
    prompt: str


@frozen
class Trace:
    """Everything that happened in a tested run."""

    visits: tuple[Visit, ...]
    calls: tuple[Call, ...]
    whole: tuple[Visit, ...] = ()
    """Composite steps: how they ended as a whole."""

    @property
    def path(self) -> tuple[str, ...]:
        """The addresses of what ran, in order."""
        return tuple(visit.address for visit in self.visits if visit.has_run)


def trace_of(log: Log, run: str) -> Trace:
    """Read what happened; items of a fan-out are in the order of the items, however they ran."""
    tracer = _Tracer(log, {each.run: each.via for each in members(log, run)})
    return Trace(tuple(tracer.trace_visits(run)), tuple(tracer.calls), tuple(tracer.whole.values()))


@dataclass(slots=True)
class _Tracer:
    """Reads one family of runs."""

    log: Log
    via: dict[str, str]
    calls: list[Call] = field(default_factory=list[Call])
    whole: dict[str, Visit] = field(default_factory=dict[str, Visit])

    def trace_visits(self, run: str) -> list[Visit]:
        """Return the visits of a run, with those of its children where they began."""
        found: list[Visit | _Items] = []
        for _, event in events_of(self.log, run):
            self._take(found, event, self.via.get(run, ""))
        return [visit for each in found for visit in (each.list_visits() if isinstance(each, _Items) else [each])]

    def _take(self, found: "list[Visit | _Items]", event: Event, via: str) -> None:
        match event:
            case StepBegan():
                self._call(event, via)
                _begin(found, f"{via}{event.address}", again=event.attempt > 1)
            case ChildStarted() if event.plan:
                # A flow's call: its run has the one step, at the same address.
                found.extend(self.trace_visits(event.child))
            case ApprovalRequested() | StepSkipped() | ChildStarted():
                status = "skipped" if isinstance(event, StepSkipped) else "running"
                found.append(Visit(f"{via}{event.address}", status))
                if isinstance(event, ChildStarted):
                    found.extend(self.trace_visits(event.child))
            case ItemStarted():
                self._item(found, event, via)
            case WorkEntered(action="parallel-agents") if isinstance(keys := event.data.get("keys"), list):
                found.append(_Items(event.address, [str(key) for key in keys]))
            case WorkLeft():
                address = f"{via}{event.address}"
                self.whole[address] = Visit(address, event.status, words=event.error, output=event.output)
            case _:
                _end(found, event, via)

    def _item(self, found: "list[Visit | _Items]", event: ItemStarted, via: str) -> None:
        own = next((each for each in reversed(found) if isinstance(each, _Items)), None)
        if own is None:
            own = _Items(event.address, [])
            found.append(own)
        own.visits[event.key] = [*own.visits.get(event.key, []), *self.trace_visits(event.child)]
        self.via.setdefault(event.child, via)

    def _call(self, event: StepBegan, via: str) -> None:
        call = call_of(event)
        if call is not None:
            turn, in_round = (call.get(name, 1) for name in ("turn", "turn_in_round"))
            prompt = str(call.get("prompt", ""))
            self.calls.append(Call(f"{via}{event.address}", event.address, int(str(turn)), int(str(in_round)), prompt))


@dataclass(slots=True)
class _Items:
    """The visits of a fan-out, by item."""

    address: str
    keys: list[str]
    visits: dict[str, list[Visit]] = field(default_factory=dict[str, list[Visit]])

    def list_visits(self) -> list[Visit]:
        """Return all of them, in the order of the items."""
        order = {key: number for number, key in enumerate(self.keys)}
        return [visit for key in sorted(self.visits, key=lambda key: order.get(key, 0)) for visit in self.visits[key]]


def _begin(found: "list[Visit | _Items]", address: str, *, again: bool) -> None:
    at = _last(found, address) if again else None
    if at is None:
        found.append(Visit(address))
        return
    visit = found[at]
    if isinstance(visit, Visit):
        found[at] = replace(visit, tries=visit.tries + 1, status="running", before=visit.words)


def _end(found: "list[Visit | _Items]", event: Event, via: str) -> None:
    """Update the visit that an event is about with how it ended."""
    match event:
        case StepEnded():
            _change(found, f"{via}{event.address}", event.status, event.error, event.output)
        case ApprovalDecided():
            _change(found, f"{via}{event.address}", event.decision, event.feedback)
        case QuestionAsked():
            if _last(found, f"{via}{event.address}") is None:
                found.append(Visit(f"{via}{event.address}"))
            _change(found, f"{via}{event.address}", "asked", event.question)
        case RunBlocked(address=str(address)) if address:
            if _last(found, f"{via}{address}") is None:
                found.append(Visit(f"{via}{address}"))
            _change(found, f"{via}{address}", "needs you", event.message)
        case _:
            pass


def _change(found: "list[Visit | _Items]", address: str, status: str, words: str, output: JsonValue = None) -> None:
    at = _last(found, address)
    visit = None if at is None else found[at]
    if at is not None and isinstance(visit, Visit):
        found[at] = replace(visit, status=status, words=words, output=output)


def _last(found: "list[Visit | _Items]", address: str) -> int | None:
    places = range(len(found) - 1, -1, -1)
    return next((at for at in places if isinstance(each := found[at], Visit) and each.address == address), None)
