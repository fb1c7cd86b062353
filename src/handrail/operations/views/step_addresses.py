"""Finds the steps that a person names, in a run, in its items and in the workflows that it calls."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from rpds import HashTrieMap

from handrail.errors import NotFound
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.history.events import Event, Parent, RunStarted, StepBegan, StepRefused
from handrail.model.history.run_state import RunState, StepState, update_state
from handrail.model.suggest import did_you_mean
from handrail.operations.views.run_tree import family
from handrail.ports.log import Log
from handrail.runtime.event_records import decode_event
from handrail.runtime.history import events_of, state_of

if TYPE_CHECKING:
    from handrail.engine.guided import agent_call as guided_calls
else:
    guided_calls = late_import("handrail.engine.guided.agent_call")

BEGINS = frozenset(
    {
        "step_began",
        "approval_requested",
        "child_started",
        "loop_entered",
        "group_entered",
        "step_skipped",
        "work_entered",
    }
)
ENDS = frozenset(
    {"step_ended", "work_left", "loop_ended", "group_left", "approval_decided", "question_asked"} | {"step_refused"}
)


@frozen
class Member:
    """A run of a family, and how the addresses of its steps are written relative to the requested run."""

    run: str
    via: str = ""
    """The prefix of the addresses of a called workflow: `sub/`."""
    whole: str = ""
    """The address of the run as a whole: `build[auth]` for an item, `sub` for a called workflow."""
    own: str = ""
    """The prefix of the addresses of an item's own steps; it also knows those of the run around it."""
    call: Parent | None = None
    """Of the run of a flow's call: which call it is; its one step has the address of the call."""

    def owns(self, address: str) -> bool:
        """Return whether a step is the run's own, and not one of the run around it."""
        if self.call is None:
            return address.startswith(self.own)
        return address == self.own or address.startswith((f"{self.own}/", f"{self.own}@", f"{self.own}["))


@frozen
class FoundStep:
    """A step that was found."""

    run: str
    address: str
    shown: str
    """Its address relative to the requested run."""
    nth: int | None = None
    """Which of its beginnings, counted from 1; None for the last."""


@frozen
class Try:
    """One time that a step began, and how that ended."""

    began: int
    begin: Event
    ended: int = 0
    end: Event | None = None


def members(log: Log, run: str) -> tuple[Member, ...]:
    """List a run and its child runs, parents before their children."""
    known: dict[str, Member] = {run: Member(run)}
    for each in family(log, run):
        first = decode_event(log.read(each, limit=1)[0])
        if each == run or not isinstance(first, RunStarted) or first.parent is None:
            continue
        around = known.get(first.parent.run, Member(first.parent.run))
        if first.prefix and "[" not in first.prefix:
            address = first.parent.address
            known[each] = Member(each, around.via, f"{around.via}{address}", address, first.parent)
        elif first.prefix:
            known[each] = Member(each, around.via, f"{around.via}{first.prefix.removesuffix('/')}", first.prefix)
        else:
            whole = f"{around.via}{first.parent.address}"
            known[each] = Member(each, f"{whole}/", whole)
    return tuple(known.values())


def step_status(state: RunState, step: StepState) -> str:
    """Return the status of a step: in an ended run no step is running or waiting."""
    ended = state.status in ("succeeded", "failed", "cancelled")
    return "stopped" if ended and step.status in ("running", "waiting") else step.status


def is_same_step(address: str, wanted: str) -> bool:
    """Whether an address is that step, a part of it, or the step in some round of a loop."""
    return (
        address == wanted
        or address.startswith((f"{wanted}/", f"{wanted}@", f"{wanted}[", f"{wanted}#"))
        or ("/" not in wanted and address.rpartition("/")[2] == wanted)
    )


def find_steps(log: Log, run: str, words: str) -> tuple[FoundStep, ...]:
    """Find the steps that an address means: `STEP`, `STEP@2` for its second beginning, `STEP[key]/INNER`."""
    known = _list_steps(log, members(log, run))
    exact = tuple(each for each in known if each.shown == words)
    return exact or _find_nth_try(log, known, words) or _find_similar_steps(run, known, words)


def list_addresses(log: Log, run: str) -> tuple[str, ...]:
    """List the addresses of the steps of a run and of its child runs, and of each item as a whole."""
    family_of = members(log, run)
    known = [found.shown for found in _list_steps(log, family_of)]
    return tuple(dict.fromkeys([*known, *(each.whole for each in family_of if each.whole)]))


def find_member(log: Log, run: str, words: str) -> str | None:
    """Return the run of an item or of a called workflow, if that is what an address means."""
    return next((each.run for each in members(log, run) if each.whole == words), None)


def tries(log: Log, run: str, address: str) -> tuple[Try, ...]:
    """List every beginning of a step with its end."""
    found: list[Try] = []
    for seq, event in events_of(log, run):
        if getattr(event, "address", "") != address:
            continue
        if event.kind in BEGINS:
            found.append(Try(seq, event))
        elif event.kind in ENDS and found and found[-1].end is None:
            last = found[-1]
            found[-1] = Try(last.began, last.begin, seq, event)
            if isinstance(event, StepRefused) and isinstance(last.begin, StepBegan):
                found.append(Try(seq, guided_calls.call_again(last.begin, event)))
    return tuple(found)


def find_try(log: Log, step: FoundStep, wanted: Callable[[Try], bool] = lambda _: True) -> Try | None:
    """Return the requested try: the n-th, or else the last of those that match."""
    all_of = tries(log, step.run, step.address)
    if step.nth is not None:
        return all_of[step.nth - 1]
    return next((each for each in reversed(all_of) if wanted(each)), None)


def _list_steps(log: Log, family_of: tuple[Member, ...]) -> list[FoundStep]:
    return [
        FoundStep(member.run, address, f"{member.via}{address}")
        for member, state in list_own_states(log, family_of)
        for address, _ in sorted(state.steps.items(), key=lambda pair: pair[1].began)
    ]


def list_own_states(log: Log, family_of: tuple[Member, ...]) -> list[tuple[Member, RunState]]:
    """List the runs of a family, each with its own steps; a flow's call is a step of the run that was created for it.

    A run that was created for a call which the flow has since given up, by going back, has none.
    """
    states = {each.run: state_of(log, each.run) for each in family_of}
    calls = {key: each for each in family_of if (key := _current_call_key(states, each.call)) is not None}
    found: list[tuple[Member, RunState]] = []
    for each in family_of:
        if each.call is not None and each not in calls.values():
            continue
        state = states[each.run]
        own = {at: step for at, step in state.steps.items() if each.owns(at) and (each.run, at) not in calls}
        found.append((each, update_state(state, steps=HashTrieMap(own))))
    return found


def _current_call_key(states: dict[str, RunState], call: Parent | None) -> tuple[str, str] | None:
    """Return the run and address of a call, if it is still the current one there."""
    around = None if call is None else states.get(call.run)
    if call is None or around is None:
        return None
    step = around.steps.get(call.address)
    return (call.run, call.address) if step is not None and step.began == call.seq else None


def _find_nth_try(log: Log, known: list[FoundStep], words: str) -> tuple[FoundStep, ...]:
    name, _, number = words.rpartition("@")
    if not name or not number.isdigit():
        return ()
    named = [each for each in known if each.shown == name]
    count = len(tries(log, named[0].run, named[0].address)) if named else 0
    if not 1 <= int(number) <= count:
        return ()
    return (FoundStep(named[0].run, named[0].address, words, int(number)),)


def _find_similar_steps(run: str, known: list[FoundStep], words: str) -> tuple[FoundStep, ...]:
    found = tuple(each for each in known if is_same_step(each.shown, words))
    if not found:
        names = tuple(dict.fromkeys(each.shown for each in known))
        message = f"{run} has no step '{words}' yet{did_you_mean(words, names)}"
        raise NotFound(message, next_step=f"steps it has: {', '.join(names) or 'none'}")
    return found
