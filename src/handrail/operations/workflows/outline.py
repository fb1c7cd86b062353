"""A plan's steps as people think of them: what a routine inserted is one step, unless it is expanded."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Literal

from handrail.frozen import frozen
from handrail.model.parts import parts, walk_steps
from handrail.model.workflow.actions import Action, CallAction, Checks, DynamicAction, GroupAction, body
from handrail.model.workflow.guidance import DelegateAction, GuidedAction, GuidedLoopAction
from handrail.model.workflow.plan import Injected, Plan, Step
from handrail.model.workflow.settings import AgentTask
from handrail.model.workflow.values import Command
from handrail.operations.workflows.condition_text import condition_words

__all__ = ["ListedCommand", "OutlineStep", "commands_of", "outline", "parts", "walk_steps"]

Names = Mapping[str, Mapping[str, str]]


@frozen(kw_only=True)
class OutlineStep:
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
    """The number of steps inserted by a routine that are not shown."""
    names: Mapping[str, str]
    """The names that the step may use, with their types."""
    steps: tuple["OutlineStep", ...] = ()


@frozen
class ListedCommand:
    """Something that a plan executes on this machine; of an agent, what it may do."""

    address: str
    kind: Literal["command", "python", "agent", "workflow", "script"]
    text: str
    workflow: str = ""
    """The workflow of its step; empty for what belongs to no step."""


def commands_of(plan: Plan, checks: Mapping[str, str]) -> tuple[ListedCommand, ...]:
    """List everything that a plan executes, from top to bottom; `checks` are the project's, for steps that use them."""
    listed = (each for address, step in walk_steps(plan.steps) for each in _commands(address, step, checks))
    return tuple(replace(each, workflow=plan.name) for each in listed)


def _commands(address: str, step: Step, checks: Mapping[str, str]) -> Iterator[ListedCommand]:
    scripts = [each.script for each in parts(step, Command)]
    if any(each.project for each in parts(step, Checks)):
        scripts += [script for _, script in sorted(checks.items())]
    yield from (ListedCommand(address, "command", script) for script in dict.fromkeys(scripts))
    yield from (ListedCommand(address, "agent", _agent(task)) for task in parts(step, AgentTask))
    if isinstance(step.action, DynamicAction):
        yield ListedCommand(address, "python", step.action.source)
    if isinstance(step.action, CallAction):
        yield ListedCommand(address, "workflow", step.action.workflow)


def outline(plan: Plan, names: Names, *, expand: bool = False) -> tuple[OutlineStep, ...]:
    """Return the steps as a tree; with `expand`, also those that routines inserted."""
    return _outline(plan.steps, "", names, expand=expand)


def _outline(steps: tuple[Step, ...], prefix: str, names: Names, *, expand: bool) -> tuple[OutlineStep, ...]:
    shown: list[OutlineStep] = []
    for caller, group in groupby(steps, key=lambda step: step.injected.at if step.injected and not expand else None):
        if caller is None:
            shown += [_outline_step(step, prefix, names, expand=expand) for step in group]
        else:
            shown.append(_outline_group(caller, tuple(group), prefix, names))
    return tuple(shown)


def _outline_group(caller: str, steps: tuple[Step, ...], prefix: str, names: Names) -> OutlineStep:
    first = steps[0]
    by = first.injected.by if first.injected is not None else ""
    scope = names.get(prefix + first.name, {})
    return OutlineStep(name=caller, address=prefix + caller, kind="use", says=by, hidden=len(steps), names=scope)


def _outline_step(step: Step, prefix: str, names: Names, *, expand: bool) -> OutlineStep:
    address = prefix + step.name
    inner = body(step.action)
    folded = isinstance(step.action, GroupAction) and not expand
    return OutlineStep(
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
