"""Decides which runs may run at the same time: what a new run needs for that, and whether it is its turn.

A run may need two things. A *key* belongs to one run at a time, from its admission until it is over, whatever it waits
for meanwhile. A *place* is taken while something of the run is driven, and limits how many are driven at once.

1. All runs of a tree share what they have: a run below one that has the key has it too, and likewise the place.
2. First come, first served. A run that cannot continue yet because its key is taken does not hold up runs that need
   another key; but its key is reserved for it.
3. The verdict depends only on the arguments; the caller ensures that nobody else decides meanwhile.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Literal

from rpds import HashTrieMap

from handrail.engine.state.given import names_given
from handrail.engine.state.scope import render_value, value_of
from handrail.errors import UsageError
from handrail.frozen import frozen
from handrail.language.problems import EvaluationError
from handrail.model.history.events import Admission, RunStarted
from handrail.model.history.run_state import RunState

if TYPE_CHECKING:
    from handrail.model.workflow.plan import Plan
    from handrail.model.workflow.values import Value

MAX_KEY_LENGTH = 200
"""The most characters of a key."""


def add_admission(plan: "Plan", started: RunStarted, around: Admission | None = None) -> RunStarted:
    """Add to the first event of a run what it needs to begin: its own key, and the places of the run around it."""
    if plan.concurrency is None:
        return started if around is None else replace(started, admission=Admission(around.scope, places=around.places))
    known = around or Admission(_scope(started))
    key = _key(plan.concurrency.key, plan.name, _first_state(started))
    return replace(started, admission=replace(known, key=key, if_running=plan.concurrency.if_running))


def admission_here(plan: "Plan", state: RunState, around: Admission | None) -> Admission | None:
    """Return what an imported run needs before it continues, with the places of its new location or its caller."""
    if plan.concurrency is None or around is None:
        return around if around is None else Admission(around.scope, places=around.places)
    # The key depends on what the run was given, whatever its steps have changed since.
    first = replace(state, names=HashTrieMap(names_given(state.inputs)), steps=HashTrieMap(), latest=HashTrieMap())
    key = _key(plan.concurrency.key, plan.name, first)
    return replace(around, key=key, if_running=plan.concurrency.if_running)


def _scope(started: RunStarted) -> str:
    """Return the repository that a run works in, or the folder if it is in none."""
    if started.source is not None:
        return started.source.repository
    return started.workspace if started.tree is None else started.tree.repository


def _first_state(started: RunStarted) -> RunState:
    return RunState(
        run=started.run,
        status="queued",
        plan=started.plan,
        definition=started.definition,
        workflow=started.workflow,
        inputs=started.inputs,
        workspace=started.workspace,
        started_at=started.at,
        checks=started.checks,
        task=started.task,
        names=HashTrieMap(names_given(started.inputs)),
        project=started.project,
    )


def _key(value: "Value", workflow: str, state: RunState) -> str:
    try:
        key = render_value(value_of(value, state)).strip()
    except EvaluationError as error:
        message = f"the concurrency key of '{workflow}' cannot be evaluated: {error.problem.message}"
        raise UsageError(message, next_step="use inputs only, such as deps-${base}") from error
    if not key or len(key) > MAX_KEY_LENGTH:
        message = f"the concurrency key of '{workflow}' is {'empty' if not key else f'{len(key)} characters long'}"
        raise UsageError(message, next_step=f"make it evaluate to text of 1 to {MAX_KEY_LENGTH} characters")
    return key


@frozen
class AdmissionCandidate:
    """A run that is not over, with what it needs and has."""

    run: str
    root: str
    admission: Admission
    order: float
    """Its position in the queue; irrelevant for a run that is not queued."""
    is_queued: bool = False
    has_key: bool = False
    has_place: bool = False
    """Whether some process drives the tree that it belongs to."""
    needs_place: bool = True
    """False if a connected agent drives it."""

    @property
    def key(self) -> tuple[str, str] | None:
        """The key together with the repository in which it counts."""
        return (self.admission.scope, self.admission.key) if self.admission.key else None


@frozen
class Verdict:
    """Whether it is a run's turn; if not, what it waits for and behind which runs."""

    waits_for: Literal["", "key", "place"] = ""
    behind: tuple[str, ...] = ()

    @property
    def can_go(self) -> bool:
        """Whether it is its turn."""
        return not self.waits_for


@frozen
class _Allocations:
    """What is taken while the queue is walked through, and by which runs."""

    keys: dict[tuple[str, str], list[AdmissionCandidate]] = field(
        default_factory=dict[tuple[str, str], list[AdmissionCandidate]]
    )
    places: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    """The roots that have a place, by the limit that they count for, each with the run that represents it."""

    def take_key(self, who: AdmissionCandidate) -> None:
        if who.key is not None:
            self.keys.setdefault(who.key, []).append(who)

    def take_place(self, who: AdmissionCandidate) -> None:
        for name, _ in who.admission.places:
            self.places.setdefault(name, {}).setdefault(who.root, who.root)

    def holders_of_key(self, who: AdmissionCandidate) -> tuple[str, ...]:
        """List the runs of other trees that have its key, or come before it."""
        found = () if who.key is None else self.keys.get(who.key, ())
        return tuple(each.run for each in found if each.root != who.root)

    def holders_of_places(self, who: AdmissionCandidate) -> tuple[str, ...]:
        """List the runs that have the places it needs, if none is left."""
        if not who.needs_place or who.has_place:
            return ()
        for name, most in who.admission.places:
            taken = self.places.get(name, {})
            if who.root not in taken and len(taken) >= most:
                return tuple(taken.values())
        return ()


def judge(claimants: Iterable[AdmissionCandidate]) -> Mapping[str, Verdict]:
    """Decide for each run in the queue whether it is its turn."""
    taken = _Allocations()
    known = sorted(claimants, key=lambda each: each.order)
    for each in known:
        if each.has_key:
            taken.take_key(each)
        if each.has_place:
            taken.take_place(each)
    found: dict[str, Verdict] = {}
    for each in known:
        if each.is_queued:
            found[each.run] = _judge(taken, each)
    return found


def is_circular(claimants: Iterable[AdmissionCandidate], verdicts: Mapping[str, Verdict], run: str) -> bool:
    """Whether a run waits for a key of a tree that itself waits for a key of the run's own tree."""
    roots = {each.run: each.root for each in claimants}
    ways = {
        (roots[each], roots[other])
        for each, verdict in verdicts.items()
        if verdict.waits_for == "key"
        for other in verdict.behind
    }
    reached, found = {roots[run]}, set[str]()
    while reached:
        reached = {there for here, there in ways if here in reached and there not in found}
        found |= reached
    return roots[run] in found


def _judge(taken: _Allocations, who: AdmissionCandidate) -> Verdict:
    before = () if who.has_key else taken.holders_of_key(who)
    if not who.has_key:
        # Reserve the key even if the run cannot continue now: later runs with the same key come after it.
        taken.take_key(who)
    if before:
        return Verdict("key", before)
    full = taken.holders_of_places(who)
    if full:
        return Verdict("place", full)
    if who.needs_place:
        taken.take_place(who)
    return Verdict()
