"""The state of a run: what its events add up to. Persistent maps make each change cheap whatever the history."""

from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, Literal, TypeAlias

from rpds import HashTrieMap

from handrail.model.events import BlockReason, Parent, RunStatus, StepStatus, WaitReason
from handrail.model.values import JsonValue

REDUCER = 2
"""Version of the fold; a checkpoint of another version is not used."""


def _nothing() -> "HashTrieMap[str, Any]":
    return HashTrieMap()


@dataclass(frozen=True, slots=True)
class StepState:
    """What is known of a step at its address; new fields go to the end, since kept states hold it as a row."""

    status: StepStatus
    attempts: int = 0
    output: JsonValue = None
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    error: str = ""
    feedback: str = ""
    began: int = 0
    began_at: float = 0.0
    ended_at: float | None = None


@dataclass(frozen=True, slots=True)
class LoopState:
    """Where a loop stands."""

    address: str
    round: int = 0
    item: str = "item"
    """The name under which the body sees its item."""
    items: tuple[JsonValue, ...] | None = None
    keys: tuple[str, ...] | None = None
    count: int | None = None
    done: tuple[JsonValue, ...] = ()
    failed: tuple[JsonValue, ...] = ()
    leaving: bool = False
    """A step of the body asked to leave the loop."""
    steered: bool = False
    """Whether what a step of the body gives may end it."""


@dataclass(frozen=True, slots=True)
class GroupState:
    """The names that a routine hides while its steps run."""

    address: str
    inputs: dict[str, JsonValue]
    names: "HashTrieMap[str, JsonValue]"
    latest: "HashTrieMap[str, str]"


@dataclass(frozen=True, slots=True)
class Frame:
    """A list of steps that is being worked through, and the next one in it."""

    prefix: str
    index: int = 0
    loop: LoopState | None = None
    group: GroupState | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """The current step's last try failed."""

    address: str
    attempt: int
    error: str
    retry_at: float | None = None


PendingKind: TypeAlias = Literal["step", "approval", "child"]


@dataclass(frozen=True, slots=True)
class Pending:
    """Something that was begun and has no outcome yet; identified by the sequence number that began it."""

    seq: int
    address: str
    kind: PendingKind
    action: str
    attempt: int = 1
    child: str = ""
    output: str = ""
    """The name under which later steps see the result."""


@dataclass(frozen=True, slots=True)
class FlowState:
    """The dynamic step that is under way, and the calls it made; their outcomes stand with the steps."""

    pending: Pending
    calls: tuple[tuple[str, str], ...] = ()
    """Of each call, in order, the hash of what was asked for, and the same in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """Everything that decides what comes next."""

    run: str
    status: RunStatus
    plan: str
    definition: str
    workflow: str
    inputs: dict[str, JsonValue]
    workspace: str
    started_at: float
    checks: dict[str, str] = field(default_factory=dict[str, str])
    task: str = ""
    seq: int = 0
    reason: WaitReason | BlockReason | None = None
    message: str = ""
    next_step: str = ""
    until: float | None = None
    ended_at: float | None = None
    names: "HashTrieMap[str, JsonValue]" = field(default_factory=_nothing)
    steps: "HashTrieMap[str, StepState]" = field(default_factory=_nothing)
    latest: "HashTrieMap[str, str]" = field(default_factory=_nothing)
    """Name of a step, as expressions write it, with the address at which it ran last."""
    context: "HashTrieMap[str, JsonValue]" = field(default_factory=_nothing)
    """What guided steps know: a flat map, to which each of them may add."""
    stack: tuple[Frame, ...] = ()
    pending: Pending | None = None
    flow: FlowState | None = None
    failure: Failure | None = None
    previous: str = ""
    """Address of the step that ended last."""
    revisions: "HashTrieMap[str, int]" = field(default_factory=_nothing)
    feedback: "HashTrieMap[str, str]" = field(default_factory=_nothing)
    """Name of a step with what a person said about its work."""
    crossed: tuple[tuple[int, str], ...] = ()
    """Effects that cannot be taken back, with their sequence numbers."""
    held_by: str = ""
    """Who drives the run; empty means the engine."""
    parent: Parent | None = None
    forked_from: tuple[str, int] | None = None

    @property
    def over(self) -> bool:
        """Whether nothing more can happen."""
        return self.status in ("succeeded", "cancelled")


_NAMES = tuple(each.name for each in fields(RunState))
_VALUES = attrgetter(*_NAMES)


def changed(state: RunState, **changes: Any) -> RunState:
    """Give a state with some fields changed; `dataclasses.replace` does the same in twice the time."""
    return RunState(**{**dict(zip(_NAMES, _VALUES(state), strict=True)), **changes})
