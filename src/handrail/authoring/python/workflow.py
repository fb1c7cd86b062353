"""The whole workflow as a Python object, the argument of `resolve`, and the short form that only lists prompts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

from handrail.authoring.python.parts import (
    Assess,
    Budget,
    Concurrency,
    Defaults,
    EventTrigger,
    ExtensionPoint,
    Feature,
    Fields,
    Input,
    IssueTrigger,
    Part,
    PullRequestTrigger,
    Reference,
    Schedule,
)
from handrail.authoring.python.steps import Steps

TriggerWord: TypeAlias = Literal["manual", "on_event"]
Trigger: TypeAlias = TriggerWord | Schedule | IssueTrigger | PullRequestTrigger | EventTrigger | Fields


@dataclass(frozen=True, slots=True)
class ResolveContext:
    """What `resolve` learns about the run that is about to start."""

    issue_id: str = ""
    labels: tuple[str, ...] = ()
    repository_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow(Part):
    """A workflow; its name equals the name of its folder."""

    name: str = field(kw_only=False)
    description: str | None = None
    trigger: Trigger | Sequence[Trigger] | None = None
    input: Mapping[str, str | Input | Fields] | Sequence[str | Input | Fields] | None = None
    defaults: Defaults | Fields | None = None
    budget: Budget | Fields | None = None
    concurrency: Concurrency | Fields | None = None
    timeout: str | None = None
    guidance: Sequence[str] | None = None
    references: Sequence[Reference | Fields] | None = None
    features: Sequence[str | Feature | Fields] | None = None
    capabilities: Mapping[str, str | Sequence[str]] | None = None
    extension_points: Mapping[str, str | ExtensionPoint | Fields] | None = None
    assessments: Mapping[str, Assess | Fields] | None = None
    labels: Sequence[str] | None = None
    tags: Sequence[str] | None = None
    classifications: Sequence[str] | None = None
    validated_against_spec: int | None = None
    steps: Steps


@dataclass(frozen=True, slots=True)
class Subroutine(Part):
    """An agent step that consists of little more than its prompt file."""

    TYPE: ClassVar[str] = "agent"
    name: str
    prompt_path: str
    description: str | None = None
    single_turn: bool = False
    requires_approval: bool = False
    suppress_thought_posting: bool = False
    disallowed_tools: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Procedure(Part):
    """A workflow that is a list of prompts."""

    name: str
    description: str
    subroutines: Sequence[Subroutine]
