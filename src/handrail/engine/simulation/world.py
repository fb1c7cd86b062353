"""What a simulation knows beforehand, and what it finds out."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from handrail.engine.simulation.candidates import Candidate, step_candidates
from handrail.engine.simulation.deciding_values import Decider, PlanReads, reading_of
from handrail.frozen import frozen
from handrail.model.history.events import Event
from handrail.model.history.run_state import RunState
from handrail.model.parts import parts, walk_steps
from handrail.model.workflow.actions import body
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.settings import Budget
from handrail.model.workflow.types import Type
from handrail.model.workflow.values import Expression, JsonValue, Prompt

Types = Callable[[Step], Type]
"""Returns the type of a step's result."""


@dataclass(slots=True)
class StateBudget:
    """How many states may still be explored."""

    left: int
    cut: bool = False

    def take(self) -> bool:
        """Use up one state; False if none is left."""
        self.left -= 1
        self.cut = self.cut or self.left < 0
        return self.left >= 0


@dataclass(frozen=True)
class World:
    """A plan that is explored, and its surroundings."""

    plan: Plan
    types: Types
    called: Mapping[str, Plan]
    """The workflows that may be called, by name."""
    room: StateBudget
    prefix: str = ""
    """The prefix of its places, if it is the body of another step."""
    calls: tuple[str, ...] = ()
    """The called workflows around it, to detect one that calls itself."""
    asked: tuple[Decider, ...] = ()
    """What its caller decides on among its outputs."""
    known: dict[str, tuple[Candidate, ...]] = field(default_factory=dict[str, tuple[Candidate, ...]])

    @cached_property
    def reading(self) -> PlanReads:
        """What the plan reads."""
        found = reading_of(self.plan)
        found.deciders.extend(self.asked)
        found.paths.update(path for each in self.asked for path in each.paths)
        return found

    @cached_property
    def is_cost_relevant(self) -> bool:
        """Whether the cost of agents matters."""
        budgets = list(parts((self.plan.budget, *_flatten_steps(self.plan.steps)), Budget))
        told = any(each.usd or each.tokens or each.minutes for each in budgets)
        return told or any(path in self.reading.deciding for path in (("cost",), ("run", "cost")))

    @cached_property
    def is_call_count_relevant(self) -> bool:
        """Whether the number of agent calls matters."""
        return any(each.agent_calls for each in parts((self.plan.budget, *_flatten_steps(self.plan.steps)), Budget))

    def results(self, place: str, step: Step) -> tuple[Candidate, ...]:
        """Return the possible results of a step that succeeds."""
        if place not in self.known:
            self.known[place] = step_candidates(step, self.types(step), self.reading)
        return self.known[place]


_VARIABLE = re.compile(r"\benv\.([A-Za-z_]\w*)")


def variables_of(plan: Plan) -> dict[str, str]:
    """Return the environment variables that a plan reads, each with a value on which nothing depends."""
    texts = [each.source for _, step in walk_steps(plan.steps) for each in parts(step, Expression)]
    texts += [each.text for _, step in walk_steps(plan.steps) for each in parts(step, Prompt)]
    return {name: f"${name}" for text in texts for name in _VARIABLE.findall(text)}


def _flatten_steps(steps: tuple[Step, ...]) -> tuple[object, ...]:
    found: list[object] = []
    for step in steps:
        found += [step.budget, step.action, *_flatten_steps(body(step.action))]
    return tuple(found)


@frozen
class Choice:
    """One thing that may happen next, described and as events."""

    says: str
    events: tuple[Event, ...]
    place: str = ""
    calls: int = 0
    """How many agents it calls."""


@frozen
class Trail:
    """How a state was reached: the last choice, and the trail before it."""

    choice: Choice
    before: "Trail | None" = None

    def choices(self) -> tuple[Choice, ...]:
        """Return all choices from the beginning."""
        found: list[Choice] = []
        here: Trail | None = self
        while here is not None:
            found.append(here.choice)
            here = here.before
        return tuple(reversed(found))


def path_of(trail: Trail | None) -> tuple[str, ...]:
    """Describe a trail as text."""
    if trail is None:
        return ()
    return tuple(f"{each.place}: {each.says}" for each in trail.choices() if each.says)


@frozen
class End:
    """A way in which a run may end, or block for a person."""

    status: str
    reason: str
    place: str
    message: str
    path: tuple[str, ...]
    trail: Trail | None = None


@frozen
class Outcome:
    """The outcome of a run inside another."""

    status: str
    output: JsonValue
    says: str = ""


@dataclass(slots=True)
class Observations:
    """What was seen while exploring, each with the first path on which it was."""

    begun: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    skipped: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    passed_over: set[str] = field(default_factory=set[str])
    rounds: set[str] = field(default_factory=set[str])
    left_early: set[str] = field(default_factory=set[str])
    at_limit: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    undefined: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict[tuple[str, str], tuple[str, ...]])
    doomed: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict[str, tuple[str, tuple[str, ...]]])
    """Steps that cannot succeed, with the reason."""
    stuck: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Places from which nothing follows."""
    unexplored: dict[str, str] = field(default_factory=dict[str, str])
    """Places that the simulation does not look behind, and why."""
    approvals: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


def place_of(plan: Plan, state: RunState) -> str:
    """Return the place of the step that a run is at: its address, without rounds and keys."""
    names: list[str] = []
    steps = plan.steps
    for frame in state.stack[:-1]:
        names.append(steps[frame.index].name)
        steps = body(steps[frame.index].action)
    last = state.stack[-1]
    if last.work is None and 0 <= last.index < len(steps):
        names.append(steps[last.index].name)
    return "/".join(names)
