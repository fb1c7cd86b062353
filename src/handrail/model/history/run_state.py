"""The state of a run: what its events add up to. Persistent maps make each change cheap whatever the history."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from rpds import HashTrieMap, Queue

from handrail.frozen import frozen
from handrail.model.history.events import (
    Admission,
    BlockReason,
    EndReason,
    Parent,
    Performer,
    RunStatus,
    StepStatus,
    WaitReason,
)
from handrail.model.history.named_blobs import BlobDigest
from handrail.model.history.spending import NOTHING, Spending
from handrail.model.history.trees import Tree, TreeSource
from handrail.model.workflow.settings import NO_POLICY, NO_PROJECT, AgentPolicy, Budget, Project
from handrail.model.workflow.values import JsonValue

REDUCER = 18
"""Version of the fold; a checkpoint of another version is not used."""

CLOCK_JUMP = 0.5
"""Seconds: a smaller difference between two readings of the clock is noise."""
FILTER_GAP = "git filter"
"""The gap that is recorded if files cannot be stored as the repository wants it."""
MAX_GIT_CHANGES = 5
"""The most changed git settings that are named in a sentence."""

_NO_ROUNDS: "Queue[JsonValue]" = Queue()


def _empty_map() -> "HashTrieMap[Any, Any]":
    return HashTrieMap()


class StepState(NamedTuple):
    """What is known about a step at its address; new fields go to the end, since stored states hold it as a row.

    A named tuple, since a long run has as many of them as steps and nothing else is created and copied as fast.
    """

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
    seconds: float = 0.0
    """What it spent, like `cost`, `tokens` and `calls`: all attempts at this address together."""
    summary: str = ""
    """The last message of its performer."""
    session: str = ""
    """The agent's conversation."""
    cost: float = 0.0
    tokens: int = 0
    before: str = ""
    """The snapshot on which its first attempt began; empty once it was passed over."""
    files: str = ""
    """The git tree of all files after it."""
    commit: str = ""
    branch: str = ""
    waits: int = 0
    """How often it waited for an agent that could not answer."""
    calls: int = 0
    agent: str = ""
    """The agent that it was given to, to which its session belongs."""
    falls: int = 0
    """How many agents were replaced, because they were missing or stayed overloaded."""
    changed: str = ""
    """The files that it changed, one per line, if a later step needs them."""
    since: str = ""
    """The snapshot against which its changes are measured, once it is over."""
    after: str = ""
    """The snapshot that was taken after it."""
    head: str = ""
    """The commit that was checked out then."""


def awaits_confirmation(step: StepState) -> bool:
    """Whether the work of a step is done, and a person has yet to confirm it."""
    asked = step.output.get("confirmation") if isinstance(step.output, dict) else None
    return step.status == "waiting" and isinstance(asked, dict) and not asked.get("confirmed")


@frozen
class LoopState:
    """The progress of a loop."""

    address: str
    round: int = 0
    item: str = "item"
    """The name under which the body sees its item."""
    items: tuple[JsonValue, ...] | None = None
    keys: tuple[str, ...] | None = None
    count: int | None = None
    done: "Queue[JsonValue]" = _NO_ROUNDS
    failed: "Queue[JsonValue]" = _NO_ROUNDS
    """Items of the rounds that are over, in their order; without items, the numbers of the rounds."""
    undone: "Queue[JsonValue]" = _NO_ROUNDS
    before: str = ""
    """The snapshot on which the round began."""
    leaving: bool = False
    """Whether a step of the body asked to leave the loop."""
    steered: bool = False
    """Whether the result of a step of the body may end it."""


@frozen
class GroupState:
    """The names that a routine hides while its steps run."""

    address: str
    inputs: dict[str, JsonValue]
    names: "HashTrieMap[str, JsonValue]"
    latest: "HashTrieMap[str, str]"


@frozen
class WorkState:
    """The progress of a composite step; each kind stores what it needs in `data`."""

    address: str
    action: str
    data: dict[str, JsonValue]
    output: str = ""


@frozen
class Frame:
    """A list of steps that is being executed, and the next one in it."""

    prefix: str
    index: int = 0
    loop: LoopState | None = None
    group: GroupState | None = None
    work: WorkState | None = None


Hindrance: TypeAlias = Literal["try", "wait", "person", "replace", "budget", "anew"]
"""What a failure asks for: another attempt, waiting until the agent can answer, a person, another agent, more budget,
or a new conversation.
"""


@frozen
class Failure:
    """The failure of the current step's last attempt."""

    address: str
    attempt: int
    error: str
    retry_at: float | None = None
    hindrance: Hindrance = "try"
    after: float = 0.0
    """Seconds to wait, if waiting helps."""
    blocks: BlockReason | None = None
    feedback: str = ""
    """The feedback for the next attempt, if that is more than the error."""


PendingKind: TypeAlias = Literal["step", "approval", "child", "items", "question"]


@frozen
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
    reported: int = 0
    """The event by which a connected agent submitted its work, while the engine checks it."""
    question: str = ""
    """What a person is asked, whatever else the run reports meanwhile."""


class FlowCall(NamedTuple):
    """A call that a flow made: the hash of what it asked for, its description, and the address of its outcome."""

    hash: str
    asks: str
    address: str


@frozen
class FlowState:
    """The dynamic step in progress, and the calls it made; their outcomes are among the steps."""

    pending: Pending
    calls: "HashTrieMap[int, FlowCall]" = field(default_factory=_empty_map)
    """Its calls, counted from 0."""
    began_at: float = 0.0
    """When its coroutine was first started; a copy of the run has the same."""


@dataclass(frozen=True, kw_only=True)
class RunState:
    """Everything that decides what comes next; without slots, since `update_state` copies all fields at once."""

    run: str
    status: RunStatus
    plan: BlobDigest
    definition: str
    workflow: str
    inputs: dict[str, JsonValue]
    workspace: str
    started_at: float
    checks: dict[str, str] = field(default_factory=dict[str, str])
    task: str = ""
    seq: int = 0
    reason: WaitReason | BlockReason | EndReason | None = None
    message: str = ""
    next_step: str = ""
    until: float | None = None
    ended_at: float | None = None
    names: "HashTrieMap[str, JsonValue]" = field(default_factory=_empty_map)
    steps: "HashTrieMap[str, StepState]" = field(default_factory=_empty_map)
    latest: "HashTrieMap[str, str]" = field(default_factory=_empty_map)
    """Name of a step, as expressions write it, with the address at which it ran last."""
    context: "HashTrieMap[str, JsonValue]" = field(default_factory=_empty_map)
    """What guided steps know: a flat map, to which each of them may add."""
    stack: tuple[Frame, ...] = ()
    pending: Pending | None = None
    flow: FlowState | None = None
    failure: Failure | None = None
    previous: str = ""
    """Address of the step that ended last."""
    revisions: "HashTrieMap[str, int]" = field(default_factory=_empty_map)
    feedback: "HashTrieMap[str, str]" = field(default_factory=_empty_map)
    """Name of a step with what a person said about its work."""
    crossed: tuple[tuple[int, str], ...] = ()
    """Effects that cannot be undone, with their sequence numbers."""
    held_by: str = ""
    """Who drives the run; empty means the engine."""
    hands: Performer = "all"
    """Which steps its holder performs."""
    autonomy: str = "guided"
    risk: str = "conservative"
    capabilities: "HashTrieMap[str, str]" = field(default_factory=_empty_map)
    """The observed capabilities of the agent: available or unavailable."""
    gaps: tuple[dict[str, JsonValue], ...] = ()
    """What is missing although the run went on: `{category, severity, message, address, about, resolved}`."""
    source: TreeSource | None = None
    """What the worktree is created from, while there is none yet."""
    pinned: TreeSource | None = None
    """What it was created from, afterwards."""
    tree: Tree | None = None
    snapshot: str = ""
    """The newest snapshot of the worktree."""
    files: str = ""
    """The git tree of all files in it."""
    diffs: "HashTrieMap[str, str]" = field(default_factory=_empty_map)
    """The differences between two snapshots, `SINCE..UNTIL`, that an expression read."""
    restore: str = ""
    """The snapshot to which the worktree must be restored before anything else."""
    agent: str = ""
    agents: AgentPolicy = NO_POLICY
    script: BlobDigest = ""
    pass_env: tuple[str, ...] = ()
    turns: "HashTrieMap[str, int]" = field(default_factory=_empty_map)
    """Address of an agent's step, without rounds, with how often it was called."""
    used: "HashTrieMap[str, JsonValue]" = field(default_factory=_empty_map)
    """The total usage of an agent's conversation, from agents that report only that: `[input, output, cached]`."""
    answers: "HashTrieMap[str, str]" = field(default_factory=_empty_map)
    """Address of a step with the answer to its agent's question."""
    messages: tuple[tuple[int, str, str], ...] = ()
    """Messages of a person that no agent has received yet: the event, who, and the text."""
    said: tuple[int, str] = (0, "")
    """The latest progress that the agent of a step reported, with the number under which that step is pending."""
    children: "HashTrieMap[str, JsonValue]" = field(default_factory=_empty_map)
    """Runs that its agents started with a tool, each with what it had spent when it last ended."""
    spent: Spending = NOTHING
    allowance: dict[str, float] = field(default_factory=dict[str, float])
    around: Budget | None = None
    """The budget of the runs around it, from which the allowance is left."""
    granted: int = 0
    """How often a person let the run continue beyond its budget."""
    parent: Parent | None = None
    root: str = ""
    """The run that a person started, from which it comes; empty if that is this one."""
    generation: int = 0
    """How many runs are around it."""
    forked_from: tuple[str, int] | None = None
    imported: int = 0
    """The event that imported it from a file: places that its history names up to there are not its own."""
    foreign: bool = False
    """Whether it was imported and nobody has released it: it has no worktree, and nothing of it runs."""
    born: float = 0.0
    """When it was created here as a copy or an import; an import has the start of its original."""
    blocked_at: str = ""
    """The step at which it last needed a person."""
    observed: dict[str, str] = field(default_factory=dict[str, str])
    """What was observed of the workspace as the run started."""
    tried: tuple[tuple[int, float, str, str], ...] = ()
    """Commands for people that agents called in vain, the newest last: the event, when, who, and the command."""
    git_changes: tuple[str, ...] = ()
    """Changed settings that make the user's git start programs, and that no person has accepted."""
    git_changed_at: float = 0.0
    calls: BlobDigest = ""
    """The workflows that its steps may call, as they were pinned."""
    boot: str = ""
    """The boot of the machine during which its times were taken."""
    ahead: float = 0.0
    """How far the time of day was ahead of the seconds since then, at the last event that says so."""
    set_by: float = 0.0
    """By how many seconds the clock was set since the run, or the copy that it is, began."""
    project: Project = NO_PROJECT
    unresolved: tuple[str, ...] = ()
    """Documents that the workflow refers to and that were not found when the run started."""
    admission: Admission | None = None
    queued: int = 0
    """The event that put it into the queue; 0 while it is not queued."""
    admitted: bool = False
    """Whether it has its key, until it is over."""
    timeout: int | None = None
    counted: float = 0.0
    """Seconds of its timeout that are used up, without those since `counts_from`."""
    counts_from: float | None = None
    """Since when its time counts; None while it waits for a person or for its turn."""
    env: dict[str, str] = field(default_factory=dict[str, str])
    """The environment variables that its expressions read."""
    given: BlobDigest = ""
    """The inputs and the task, if they are large: a stored state refers to them instead of holding them."""
    issue: str = ""
    """The name of the issue that it works on."""
    deciding: str = ""
    """The step that is being decided on, only while it is; no stored state has it."""

    @property
    def deadline(self) -> float | None:
        """When its timeout is used up, if nothing stops the time before; None if nothing counts."""
        if self.timeout is None or self.counts_from is None:
            return None
        return self.counts_from + self.timeout - self.counted

    @property
    def open_gaps(self) -> "tuple[dict[str, JsonValue], ...]":
        """What is still missing."""
        return tuple(gap for gap in self.gaps if not gap.get("resolved"))

    @property
    def family(self) -> str:
        """The run that a person started: this one, or the one from which it comes."""
        return self.root or self.run

    @property
    def birth(self) -> float:
        """When it was created here; together with its id this distinguishes it from every other run."""
        return self.born or self.started_at

    @property
    def is_over(self) -> bool:
        """Whether nothing more can happen."""
        return self.status in ("succeeded", "cancelled")


def run_diff_base(state: RunState) -> str:
    """Return what a run's own changes are measured against: its base, with the uncommitted changes it started with."""
    # The worktree of a copy or an import was created with work of the run.
    own = state.pinned is not None and state.forked_from is None and not state.imported
    taken = state.pinned.changes if own and state.pinned is not None else ""
    return taken or ("" if state.tree is None else state.tree.commit)


def git_changes_words(changes: Sequence[str]) -> str:
    """Describe which settings were changed; empty if there are none."""
    more = f"; and {len(changes) - MAX_GIT_CHANGES} more" if len(changes) > MAX_GIT_CHANGES else ""
    said = "git settings of the repository that start programs were changed and not yet accepted"
    return f"{said}: {'; '.join(changes[:MAX_GIT_CHANGES])}{more}" if changes else ""


def update_state(state: RunState, **changes: Any) -> RunState:
    """Return a state with some fields changed; `dataclasses.replace` does the same but takes ten times as long."""
    return update_state_from(state, changes)


def update_state_from(state: RunState, changes: dict[str, Any]) -> RunState:
    """Return a state with the fields changed that a map holds."""
    copy = object.__new__(RunState)
    fields = copy.__dict__
    fields.update(state.__dict__)
    fields.update(changes)
    return copy


_DEFAULTS = tuple(StepState("waiting"))
_MISSING = tuple(_DEFAULTS[length:] for length in range(len(_DEFAULTS) + 1))


def step_of(row: Sequence[Any]) -> StepState:
    """Build a step from its fields in order; what is missing at the end gets its default."""
    return StepState._make((*row, *_MISSING[len(row)]))
