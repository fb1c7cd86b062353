"""A plan's steps as people think of them: what a routine put in is one step, until it is asked for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from itertools import groupby
from typing import TypeVar, cast

from handrail.model.actions import Action, CallAction, GroupAction, body
from handrail.model.guidance import DelegateAction, GuidedAction, GuidedLoopAction
from handrail.model.plan import Injected, Plan, Step
from handrail.model.settings import AgentTask
from handrail.operations.words import condition_words

T = TypeVar("T")
Names = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownStep:
    """One step of an outline, with the steps inside it."""

    name: str
    address: str
    kind: str
    says: str = ""
    when: str | None = None
    output: str | None = None
    agents: tuple[str, ...] = ()
    injected: Injected | None = None
    hidden: int = 0
    """How many steps a routine put there that are not shown."""
    names: Mapping[str, str]
    """The names that the step may use, with their types."""
    steps: tuple["ShownStep", ...] = ()


def outline(plan: Plan, names: Names, *, expand: bool = False) -> tuple[ShownStep, ...]:
    """Give the steps as a tree; with `expand` also those that routines put in."""
    return _outline(plan.steps, "", names, expand=expand)


def parts(value: object, wanted: type[T]) -> Iterator[T]:
    """Find every value of a type inside a value of the model, the steps inside a step left out."""
    if isinstance(value, wanted):
        yield value
    if isinstance(value, tuple):
        for item in cast("tuple[object, ...]", value):
            if not isinstance(item, Step):
                yield from parts(item, wanted)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from parts(getattr(value, field.name), wanted)


def every_step(steps: tuple[Step, ...], prefix: str = "") -> Iterator[tuple[str, Step]]:
    """Give all steps with their addresses, from top to bottom."""
    for step in steps:
        address = prefix + step.name
        yield address, step
        yield from every_step(body(step.action), f"{address}/")


def _outline(steps: tuple[Step, ...], prefix: str, names: Names, *, expand: bool) -> tuple[ShownStep, ...]:
    shown: list[ShownStep] = []
    for caller, group in groupby(steps, key=lambda step: step.injected.at if step.injected and not expand else None):
        if caller is None:
            shown += [_shown(step, prefix, names, expand=expand) for step in group]
        else:
            shown.append(_folded(caller, tuple(group), prefix, names))
    return tuple(shown)


def _folded(caller: str, steps: tuple[Step, ...], prefix: str, names: Names) -> ShownStep:
    first = steps[0]
    by = first.injected.by if first.injected is not None else ""
    scope = names.get(prefix + first.name, {})
    return ShownStep(name=caller, address=prefix + caller, kind="use", says=by, hidden=len(steps), names=scope)


def _shown(step: Step, prefix: str, names: Names, *, expand: bool) -> ShownStep:
    address = prefix + step.name
    inner = body(step.action)
    folded = isinstance(step.action, GroupAction) and not expand
    return ShownStep(
        name=step.name,
        address=address,
        kind=step.action.kind,
        says=step.description or _title(step.action),
        when=condition_words(step.when) if step.when is not None else None,
        output=step.output,
        agents=tuple(dict.fromkeys(_agent(task) for task in parts(step.action, AgentTask))),
        injected=step.injected,
        hidden=len(inner) if folded else 0,
        names=names.get(address, {}),
        steps=() if folded else _outline(inner, f"{address}/", names, expand=expand),
    )


def _title(action: Action) -> str:
    match action:
        case GuidedAction() | GuidedLoopAction() | DelegateAction():
            return action.title
        case GroupAction():
            return action.routine
        case CallAction():
            return action.workflow
        case _:
            return ""


def _agent(task: AgentTask) -> str:
    agent = task.agent or "default agent"
    model = f"/{task.model}" if task.model else ""
    return f"{agent}{model} ({task.access})"
