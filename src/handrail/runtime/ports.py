"""What the runtime needs beside the log and processes: a clock, prepared commands, other workflows, flows."""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from handrail.frozen import frozen
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import Command

if TYPE_CHECKING:
    from handrail.compiler.builtins import Builtins
    from handrail.ports.flows import StartFlow

Clock: TypeAlias = Callable[[], float]


@frozen
class Prepared:
    """What to run, and the variables that carry its values."""

    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...]


class Commands(Protocol):
    """Makes commands ready to run."""

    def prepare(
        self, command: Command, values: Mapping[str, object], folder: str, written: Mapping[str, str]
    ) -> Prepared | str:
        """Give what to run; a plain text says why a value cannot be passed, as it was `written`."""
        ...


@frozen
class Pinned:
    """A workflow that was found and compiled."""

    plan: Plan
    definition: str
    written: bytes = b""
    """The plan as it is kept, where that is known already: writing a long one takes a while."""
    calls: "Mapping[str, Pinned]" = field(default_factory=dict[str, "Pinned"])
    """Every workflow that it or one of these may call, by the name in the plan."""


Workflows: TypeAlias = Callable[[str, str], Pinned]
"""Finds and compiles a workflow by its name, seen from a run's workspace; raises what a person can act on."""


@frozen
class Flows:
    """What dynamic steps need from outside: a process for each coroutine, and the library that its calls may name."""

    start: "StartFlow"
    builtins: "Callable[[], Builtins]"
