"""One workflow, as an agent that chooses one sees it."""

import shlex
from typing import Literal

from handrail.frozen import frozen
from handrail.operations.workflows.list import WorkflowEntry


@frozen(kw_only=True)
class InputOffer:
    """What a workflow takes besides the goal."""

    name: str
    type: str
    required: bool
    description: str
    choices: tuple[str, ...] = ()
    takes_goal: bool = False
    """Whether the goal with which it is started becomes this value."""


@frozen(kw_only=True)
class ReferenceOffer:
    """A document that a workflow builds on."""

    id: str
    title: str
    purpose: str


@frozen(kw_only=True)
class WorkflowOffer:
    """One workflow, as an agent that chooses one sees it."""

    about: WorkflowEntry
    title: str
    version: str | None
    tags: tuple[str, ...]
    distrust: str = ""
    """Why it may not be started yet; empty if it may."""
    inputs: tuple[InputOffer, ...] = ()
    references: tuple[ReferenceOffer, ...] = ()

    @property
    def kind(self) -> Literal["workflow", "routine"]:
        """Whether it is run on its own or inside others."""
        return "routine" if self.about.is_routine else "workflow"

    @property
    def needs(self) -> str:
        """What the user must do before it can be started."""
        return f"ask your user to read it, then: handrail trust {shlex.quote(self.about.path)}" if self.distrust else ""
