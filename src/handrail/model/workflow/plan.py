"""The compiled workflow: frozen, self-contained, content-hashed. A run is pinned to one."""

from dataclasses import field
from typing import Literal, TypeAlias, cast

from handrail.frozen import frozen
from handrail.model.workflow.actions import Action
from handrail.model.workflow.guidance import Assessment, Consequence, GuidedWorkflow
from handrail.model.workflow.proofs import Proof
from handrail.model.workflow.settings import NO_RETRY, Budget, OnFail, Project, Retry
from handrail.model.workflow.types import Type
from handrail.model.workflow.values import NOT_HASHED, Condition, JsonValue, NamedValue, Value

FORMAT = 1
"""Raised when the meaning of a plan's fields changes; part of every hash."""


@frozen
class Injected:
    """What inserted a step, and on whose behalf."""

    by: str
    """The routine or template, by its id."""
    at: str
    """The step that called it."""
    why: str


@frozen(kw_only=True)
class Step:
    """One node of a plan: what every step has in common, and its action."""

    name: str
    action: Action
    description: str = ""
    when: Condition | None = None
    input: tuple[NamedValue, ...] = ()
    output: str | None = None
    returns: Type | None = None
    done_when: tuple[Proof, ...] = ()
    """What Handrail itself verifies before the step is done."""
    timeout: int | None = None
    """Seconds."""
    retry: Retry = NO_RETRY
    on_fail: OnFail = "block"
    escalate_to: str | None = None
    budget: Budget | None = None
    assess: tuple[str, ...] = ()
    """Ids of the plan's assessments that the step's agent must return."""
    follow_ups: tuple[Consequence, ...] = ()
    """Levels in them that send the step back."""
    injected: Injected | None = field(default=None, metadata=NOT_HASHED)


@frozen
class Input:
    """A declared input; without a default it is required."""

    name: str
    type: Type
    required: bool = True
    default: JsonValue = None
    description: str = ""
    default_from: str = ""
    """The name whose value is the default, such as `project.default_branch`."""


def fill_project_values(
    declared: tuple[Input, ...], given: dict[str, JsonValue], project: Project
) -> dict[str, JsonValue]:
    """Fill in a run's inputs from the project's configuration where their default names it."""
    named = {each.name: each.default_from.removeprefix("project.") for each in declared if each.default_from}
    empty = [name for name in named if name in given and not given[name]]
    found: dict[str, JsonValue] = {}
    for name in empty:
        value: object = getattr(project, named[name])
        found[name] = [str(each) for each in cast("tuple[str, ...]", value)] if isinstance(value, tuple) else str(value)
    return {**given, **found}


EMPTY_ISSUE: dict[str, JsonValue] = {
    "id": "",
    "number": 0,
    "title": "",
    "body": "",
    "description": "",
    "labels": [],
    "author": "",
    "url": "",
    "state": "",
    "branch": "",
    "comments": [],
    "assignees": [],
    "attachments": [],
    "tracker": "",
    "repository": "",
}


def issue_from(text: str) -> dict[str, JsonValue]:
    """Build an issue from a sentence that a person gives instead of one."""
    return {**EMPTY_ISSUE, "title": text, "body": text, "description": text}


def is_issue(value: JsonValue) -> bool:
    """Whether a value is an issue."""
    return isinstance(value, dict) and isinstance(value.get("title"), str) and "body" in value


@frozen
class ManualTrigger:
    """Started by a person or a command."""

    kind: Literal["manual"] = "manual"


@frozen
class EventTrigger:
    """Started by a named event."""

    event: str = ""
    kind: Literal["event"] = "event"


@frozen
class ScheduleTrigger:
    """Started by the clock."""

    schedule: str
    """A cron expression of five fields."""
    timezone: str = "UTC"
    kind: Literal["schedule"] = "schedule"


@frozen
class IssueTrigger:
    """Started when an issue has one of the labels."""

    labels: tuple[str, ...] = ()
    kind: Literal["issue"] = "issue"


@frozen
class PullRequestTrigger:
    """Started when a pull request has one of the labels."""

    labels: tuple[str, ...] = ()
    kind: Literal["pull_request"] = "pull_request"


Trigger: TypeAlias = ManualTrigger | EventTrigger | ScheduleTrigger | IssueTrigger | PullRequestTrigger


@frozen
class Concurrency:
    """Which runs exclude each other, and what a new one does then."""

    key: Value
    if_running: Literal["skip", "queue", "stop_old"] = "queue"


@frozen(kw_only=True)
class Plan:
    """A whole workflow, compiled."""

    name: str
    steps: tuple[Step, ...]
    description: str = ""
    format: int = FORMAT
    selection: Literal["linear", "rescan"] = "linear"
    """How the next step is found: in order, or by WorkRail's rule of scanning again from the top."""
    inputs: tuple[Input, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    concurrency: Concurrency | None = None
    budget: Budget | None = None
    timeout: int | None = None
    labels: tuple[str, ...] = ()
    classifications: tuple[str, ...] = ()
    assessments: tuple[Assessment, ...] = ()
    guided: GuidedWorkflow | None = None
    """What only WorkRail-style workflows declare."""
    validated_against: int | None = field(default=None, metadata=NOT_HASHED)
    """The authoring spec it was last checked against; a stamp does not change what the workflow means."""
