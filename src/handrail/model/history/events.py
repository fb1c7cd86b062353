"""What happened in a run: immutable facts in the past tense, a closed union.

They contain everything that the outside decided: evaluated values, rendered texts, times, exit codes. Replaying them
never asks the outside again. The log assigns an event's sequence number; `(run, seq)` of the event that made something
pending is its identity, which never recurs.

The file is long because it is one vocabulary: whoever reads a log wants all its words in one place.
"""

from dataclasses import field
from typing import Literal, TypeAlias

from handrail.frozen import frozen
from handrail.model.history.named_blobs import BlobDigest, Stream
from handrail.model.history.trees import Tree, TreeSource
from handrail.model.workflow.settings import NO_POLICY, NO_PROJECT, AgentPolicy, Budget, Project
from handrail.model.workflow.values import JsonValue

StepStatus: TypeAlias = Literal["running", "succeeded", "failed", "skipped", "passed_over", "waiting"]
RunStatus: TypeAlias = Literal["queued", "running", "waiting", "blocked", "succeeded", "failed", "cancelled"]
WaitReason: TypeAlias = Literal["approval", "review", "question", "quota", "timer", "pause"]
BlockReason: TypeAlias = Literal["checks", "merge", "budget", "fault", "step", "capability", "login"]
EndReason: TypeAlias = Literal["skipped", "replaced", "timeout"]
"""Why a run ended, if neither its steps nor a person decided that."""
IfRunning: TypeAlias = Literal["skip", "queue", "stop_old"]
Decision: TypeAlias = Literal["approve", "revise", "reject"]
Performer: TypeAlias = Literal["all", "agents"]
"""Which steps the holder of a run performs: all, or only those of agents; the engine performs the rest."""
GapSeverity: TypeAlias = Literal["info", "warning", "critical"]
ShortfallCode: TypeAlias = Literal[
    "missing_output",
    "invalid_output",
    "missing_assessment",
    "invalid_assessment",
    "validation_failed",
    "missing_notes",
    "follow_up",
    "bad_context",
    "missing_context",
    "capability_unknown",
    "capability_unavailable",
    "missing_delegation",
    "invalid_delegation",
    "not_confirmed",
    "not_proven",
]

VERSION = 6
"""Version of the events' shape; older ones are lifted when they are read."""


@frozen
class Parent:
    """The run, and the event in it, that a child run answers to."""

    run: str
    address: str
    seq: int


@frozen
class Admission:
    """What a run needs before it may begin: a key that no other run has, and places among those that run at once."""

    scope: str = ""
    """The repository in which the key counts."""
    key: str = ""
    """Runs with the same key exclude each other; empty: it excludes none."""
    if_running: IfRunning = "queue"
    places: tuple[tuple[str, int], ...] = ()
    """How many runs may run at once: in a repository, or with an empty name in all of them."""


@frozen
class Why:
    """The condition that decided, with the values it read."""

    condition: str
    values: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    result: JsonValue = None


@frozen(kw_only=True)
class RunStarted:
    """A run was created, pinned to a plan."""

    run: str
    workflow: str
    definition: str
    plan: BlobDigest
    """The pinned plan."""
    inputs: dict[str, JsonValue]
    workspace: str
    at: float
    checks: dict[str, str] = field(default_factory=dict[str, str])
    """The project's checks as they were when the run started."""
    task: str = ""
    by: str = ""
    parent: Parent | None = None
    source: TreeSource | None = None
    """What the run's own worktree is created from; without it the run works in `workspace` as it is."""
    tree: Tree | None = None
    """The worktree of its caller, in which it works too."""
    agent: str = ""
    """The agent that performs every agent step, whatever the workflow says; it may include a model, or be only one."""
    agents: AgentPolicy = NO_POLICY
    """The agent of steps that name none, and what happens if one cannot answer."""
    script: BlobDigest = ""
    """What the scripted agent plays."""
    pass_env: tuple[str, ...] = ()
    """Names of variables that everything run in its worktree sees; never their values."""
    scope: BlobDigest = ""
    """The names and steps that a body sees of the run around it."""
    prefix: str = ""
    """The prefix of the addresses of its steps: `build[auth]/` for an item of a fan-out."""
    allowance: dict[str, float] = field(default_factory=dict[str, float])
    """What its caller leaves it to spend."""
    around: Budget | None = None
    """The budget from which the allowance is left."""
    references: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """Where each document that the workflow refers to was found, or why not: `{id: {path, problem}}`."""
    observed: dict[str, str] = field(default_factory=dict[str, str])
    """What was observed of the workspace, to find the run by: `root`, `repository`, `branch`, `head`."""
    calls: BlobDigest = ""
    """The workflows that its steps may call, compiled when the run that a person started began."""
    boot: str = ""
    """The boot of the machine during which its times were taken; empty if that is not known."""
    ahead: float = 0.0
    """How far the time of day was ahead of the seconds since then."""
    project: Project = NO_PROJECT
    """What the repository's configuration said about the project."""
    admission: Admission | None = None
    """What it waits for before it begins; without it, it begins at once."""
    timeout: int | None = None
    """Seconds that the whole run may take."""
    env: dict[str, str] = field(default_factory=dict[str, str])
    """The environment variables that its workflow reads as `env.NAME`, none of which is a secret."""
    root: str = ""
    """The run that a person started, from which it comes; empty if that is this one."""
    generation: int = 0
    """How many runs are around it."""
    given: BlobDigest = ""
    """The inputs and the task, if they are large: both are empty here then."""
    issue: str = ""
    """The name of the issue that it works on (`model.issues.IssueRef`)."""
    kind: Literal["run_started"] = "run_started"


@frozen(kw_only=True)
class RunForked:
    """A run was created as a copy of another at one point of its history."""

    run: str
    source: str
    seq: int
    state: BlobDigest
    """The state of its source at that point."""
    at: float
    by: str = ""
    source_tree: TreeSource | None = None
    """What the copy's own worktree is created from."""
    boot: str = ""
    ahead: float = 0.0
    """The state of the clock, as in `run_started`."""
    kind: Literal["run_forked"] = "run_forked"


@frozen(kw_only=True)
class RunImported:
    """The run was imported from a file: it owns none of the folders, branches and refs that its history names.

    It is held, and has no worktree, until a person releases it.
    """

    original: str
    """The id that it had where it was exported."""
    by: str
    at: float
    kind: Literal["run_imported"] = "run_imported"


@frozen(kw_only=True)
class WorkspaceReady:
    """The run's worktree was created and set up."""

    tree: Tree
    snapshot: str
    files: str
    """The git tree of all its files."""
    at: float
    again: bool = False
    """Whether the previous one disappeared during a step that had begun: the step's work was lost with it."""
    kind: Literal["workspace_ready"] = "workspace_ready"


@frozen(kw_only=True)
class TreeRestored:
    """The worktree was restored to a snapshot; a borrowed one was left as it is."""

    snapshot: str
    at: float
    kept: str = ""
    """The ref that preserves what was there."""
    kind: Literal["tree_restored"] = "tree_restored"


@frozen(kw_only=True)
class FilesCompared:
    """The difference between two snapshots was computed, since something that is decided next reads it."""

    since: str
    until: str
    diff: str
    """The difference as a patch; of a large one the beginning, and how to show the rest."""
    at: float
    kind: Literal["files_compared"] = "files_compared"


@frozen(kw_only=True)
class WorkEntered:
    """A composite step began, which takes several actions: a review loop, a gate with a fix, a merge, a fan-out."""

    address: str
    action: str
    data: dict[str, JsonValue]
    at: float
    output: str = ""
    why: Why | None = None
    kind: Literal["work_entered"] = "work_entered"


@frozen(kw_only=True)
class WorkLeft:
    """A composite step is over."""

    address: str
    status: Literal["succeeded", "failed"]
    at: float
    output: JsonValue = None
    error: str = ""
    blocks: BlockReason | None = None
    """Why a person is needed, if it failed."""
    kind: Literal["work_left"] = "work_left"


@frozen(kw_only=True)
class ItemStarted:
    """An item of a fan-out got a run of its own."""

    address: str
    key: str
    child: str
    at: float
    kind: Literal["item_started"] = "item_started"


@frozen(kw_only=True)
class ItemEnded:
    """The run of an item is over."""

    address: str
    key: str
    result: dict[str, JsonValue]
    """`{key, item, status, branch, commit, output, error, cost}`"""
    at: float
    spent: dict[str, float] = field(default_factory=dict[str, float])
    kind: Literal["item_ended"] = "item_ended"


@frozen(kw_only=True)
class QuestionAsked:
    """An agent asked a person; its step continues with the answer."""

    address: str
    began: int
    question: str
    at: float
    session: str = ""
    spent: dict[str, float] = field(default_factory=dict[str, float])
    used: JsonValue = None
    """The total usage of the conversation so far, from an agent that reports only that."""
    heard: tuple[int, ...] = ()
    """The messages that it took up during the call, by the numbers of their events."""
    printed: Stream = ()
    """What its agent printed until then."""
    kind: Literal["question_asked"] = "question_asked"


@frozen(kw_only=True)
class QuestionAnswered:
    """A person answered an agent."""

    address: str
    asked: int
    answer: str
    by: str
    at: float
    kind: Literal["question_answered"] = "question_answered"


@frozen(kw_only=True)
class MessageGiven:
    """A person sent the agents of the run a message, without being asked; the current call or the next delivers it."""

    text: str
    by: str
    at: float
    address: str = ""
    """The step that was in progress."""
    kind: Literal["message_given"] = "message_given"


@frozen(kw_only=True)
class StepSkipped:
    """A step's condition did not hold."""

    address: str
    why: Why
    at: float
    kind: Literal["step_skipped"] = "step_skipped"


@frozen
class PassedBy:
    """A step that was considered and not chosen, and why."""

    address: str
    why: Why


@frozen(kw_only=True)
class StepChosen:
    """A step other than the following one was chosen as next: those before it do not apply."""

    address: str
    place: int
    """Its place in the list."""
    passed_by: tuple[PassedBy, ...]
    at: float
    kind: Literal["step_chosen"] = "step_chosen"


@frozen(kw_only=True)
class StepBegan:
    """A step was begun: the intent to perform it, with everything that its performer needs."""

    address: str
    action: str
    attempt: int
    spec: dict[str, JsonValue]
    at: float
    output: str = ""
    why: Why | None = None
    kind: Literal["step_began"] = "step_began"


@frozen(kw_only=True)
class StepEnded:
    """A step that had begun got its outcome."""

    address: str
    began: int
    """Sequence number of the event that made it pending."""
    status: Literal["succeeded", "failed"]
    at: float
    output: JsonValue = None
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    error: str = ""
    by: str = ""
    """Who performed it, if not the engine."""
    details: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    printed: Stream = ()
    """What its agent printed, line by line: the transcript is read from it."""
    kind: Literal["step_ended"] = "step_ended"


@frozen
class Shortfall:
    """One requirement of a step that a submission does not meet."""

    code: ShortfallCode
    message: str
    about: str = ""
    """What it is about: a contract, an assessment with its dimension, a variable."""
    fix: str = ""
    schema: JsonValue = None
    example: JsonValue = None
    sent: JsonValue = None


@frozen(kw_only=True)
class StepRefused:
    """A submission did not complete the step; it is pending again, under this event's number."""

    address: str
    began: int
    """Sequence number of what was pending until now."""
    shortfalls: tuple[Shortfall, ...]
    output: JsonValue
    """What was submitted, apart from the context."""
    at: float
    by: str = ""
    details: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """What the call spent and its conversation, if the engine called an agent for it."""
    results: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """Results of delegated work that came with it: they are stored."""
    printed: Stream = ()
    """What its agent printed."""
    kind: Literal["step_refused"] = "step_refused"


@frozen(kw_only=True)
class WorkReported:
    """A connected agent submitted its work for a step; the engine itself checks it."""

    address: str
    began: int
    text: str
    by: str
    at: float
    output: JsonValue = None
    has_output: bool = False
    artifacts: tuple[JsonValue, ...] = ()
    """What the step asks for beside the work."""
    context: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """Of a guided step: values that later steps read."""
    kind: Literal["work_reported"] = "work_reported"


@frozen(kw_only=True)
class DelegationReported:
    """Results of work that a step delegates were reported; the step is pending again, under this event's number."""

    address: str
    began: int
    results: dict[str, JsonValue]
    """The number of each piece of work with its result."""
    by: str
    at: float
    kind: Literal["delegation_reported"] = "delegation_reported"


@frozen(kw_only=True)
class CheckpointMade:
    """A connected agent set a checkpoint, to come back to it."""

    address: str
    began: int
    by: str
    at: float
    kind: Literal["checkpoint_made"] = "checkpoint_made"


@frozen(kw_only=True)
class PreferencesSet:
    """A person set how far the run continues on its own, and what it may risk."""

    autonomy: str
    risk: str
    by: str
    at: float
    kind: Literal["preferences_set"] = "preferences_set"


@frozen(kw_only=True)
class GapRecorded:
    """The run continues although something is missing; it is reported at the end."""

    category: Literal["user_only_dependency", "contract_violation", "capability_missing", "unexpected"]
    severity: GapSeverity
    message: str
    at: float
    address: str = ""
    about: str = ""
    """A capability, or what else is missing."""
    kind: Literal["gap_recorded"] = "gap_recorded"


@frozen(kw_only=True)
class CapabilityObserved:
    """It was observed whether the agent has a capability that the workflow requires or prefers."""

    capability: str
    status: Literal["available", "unavailable"]
    at: float
    detail: str = ""
    by: str = ""
    kind: Literal["capability_observed"] = "capability_observed"


@frozen(kw_only=True)
class ToolCalled:
    """An agent that the engine launched called a tool of Handrail."""

    tool: str
    address: str
    success: bool
    at: float
    arguments: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    result: JsonValue = None
    error: str = ""
    call: str = ""
    """Distinguishes this call from others: its caller finds the answer by it."""
    kind: Literal["tool_called"] = "tool_called"


@frozen(kw_only=True)
class ChildEnded:
    """A run that an agent had started with a tool is over; what it spent counts for the run around it."""

    child: str
    status: Literal["succeeded", "failed", "cancelled"]
    at: float
    message: str = ""
    spent: dict[str, float] = field(default_factory=dict[str, float])
    """Everything that it spent so far."""
    kind: Literal["child_ended"] = "child_ended"


@frozen(kw_only=True)
class ContextMerged:
    """Values were merged into the context: each replaces the one of its name, null removes it."""

    changes: dict[str, JsonValue]
    at: float
    by: str = ""
    kind: Literal["context_merged"] = "context_merged"


@frozen(kw_only=True)
class CallRequested:
    """The coroutine of a dynamic step asked for a step, which begins with the next event."""

    address: str
    """The call's own address: `flow/checks#2` for the second call of `checks`; older versions wrote `flow#3`."""
    number: int
    spec_hash: str
    """Over what is asked for; a replay must ask for the same."""
    asks: str
    """A description of the same."""
    at: float
    kind: Literal["call_requested"] = "call_requested"


@frozen(kw_only=True)
class StepPassedOver:
    """A step had failed for good, and the run continues without it; or it was `answered`, and its answer stands."""

    address: str
    how: Literal["continue", "warn", "undo", "answered"]
    at: float
    output: str = ""
    message: str = ""
    """Why an answer stands, although its agent should be called again; or a gate author's message about its failure."""
    kind: Literal["step_passed_over"] = "step_passed_over"


@frozen(kw_only=True)
class RetryScheduled:
    """Another attempt was scheduled, not before a time."""

    address: str
    attempt: int
    due: float
    at: float
    reason: WaitReason = "timer"
    message: str = ""
    kind: Literal["retry_scheduled"] = "retry_scheduled"


@frozen(kw_only=True)
class TimerFired:
    """A time that was waited for has come."""

    key: str
    at: float
    kind: Literal["timer_fired"] = "timer_fired"


@frozen(kw_only=True)
class LoopEntered:
    """A loop began; its items and their keys are fixed from now on."""

    address: str
    at: float
    items: tuple[JsonValue, ...] | None = None
    keys: tuple[str, ...] | None = None
    item: str = "item"
    count: int | None = None
    steered: bool = False
    """Whether a step of its body may end it with its result."""
    why: Why | None = None
    kind: Literal["loop_entered"] = "loop_entered"


@frozen(kw_only=True)
class RoundStarted:
    """A round of a loop began."""

    address: str
    round: int
    at: float
    why: Why | None = None
    kind: Literal["round_started"] = "round_started"


@frozen(kw_only=True)
class RoundEnded:
    """A round of a loop is over; a failed one was caught by the loop."""

    address: str
    round: int
    failed: bool
    at: float
    error: str = ""
    undone: bool = False
    """Whether the changes of a failed round are undone."""
    kind: Literal["round_ended"] = "round_ended"


@frozen(kw_only=True)
class LoopEnded:
    """A loop is over."""

    address: str
    reason: Literal["done", "condition", "max", "exit"]
    at: float
    why: Why | None = None
    kind: Literal["loop_ended"] = "loop_ended"


@frozen(kw_only=True)
class GroupEntered:
    """The steps of a routine begin, with its inputs bound."""

    address: str
    inputs: dict[str, JsonValue]
    at: float
    kind: Literal["group_entered"] = "group_entered"


@frozen(kw_only=True)
class GroupLeft:
    """The steps of a routine are done."""

    address: str
    at: float
    kind: Literal["group_left"] = "group_left"


@frozen(kw_only=True)
class ApprovalRequested:
    """A person was asked for approval."""

    address: str
    message: str
    show: dict[str, JsonValue]
    revise: str | None
    revisions_left: int
    at: float
    due: float | None = None
    why: Why | None = None
    kind: Literal["approval_requested"] = "approval_requested"


@frozen(kw_only=True)
class ApprovalDecided:
    """A person decided on an approval."""

    address: str
    asked: int
    decision: Decision
    by: str
    at: float
    feedback: str = ""
    back_to: int | None = None
    """Place in the same list of the step that a revision goes back to."""
    target: str = ""
    """Name of that step."""
    kind: Literal["approval_decided"] = "approval_decided"


@frozen(kw_only=True)
class ChildStarted:
    """Another workflow was started on behalf of a step."""

    address: str
    child: str
    workflow: str
    inputs: dict[str, JsonValue]
    at: float
    output: str = ""
    why: Why | None = None
    plan: BlobDigest = ""
    """The plan of one step that a flow calls; without it the workflow is found by its name."""
    kind: Literal["child_started"] = "child_started"


@frozen(kw_only=True)
class CommandRefused:
    """An agent called a command that is reserved for people, and was refused."""

    command: str
    by: str
    at: float
    about: str = ""
    """The run or the workflow that it named."""
    address: str = ""
    """The step inside which it was called."""
    kind: Literal["command_refused"] = "command_refused"


@frozen(kw_only=True)
class PersonNotified:
    """Somebody was notified, outside of Handrail, that the run needs a person; or could not be notified."""

    need: int
    """The number of the event by which the run needs a person."""
    at: float
    to: str = ""
    """The channel; empty: the user."""
    problem: str = ""
    """What did not work."""
    kind: Literal["person_notified"] = "person_notified"


@frozen(kw_only=True)
class GitSettingsChanged:
    """Settings that make the user's git start programs in the repository changed, or no longer differ."""

    changes: tuple[str, ...]
    """All current differences; empty if they were undone or accepted."""
    at: float
    address: str = ""
    """The step after which it was seen."""
    kind: Literal["git_settings_changed"] = "git_settings_changed"


@frozen(kw_only=True)
class ClockNoted:
    """The clock is not as the run knew it: it was set by a number of seconds, or the machine was rebooted."""

    boot: str
    ahead: float
    """The state of the clock from now on, as in `run_started`."""
    at: float
    by: float = 0.0
    """Seconds by which the clock was set: times up to here count as that much later."""
    kind: Literal["clock_noted"] = "clock_noted"


@frozen(kw_only=True)
class RunWaits:
    """The run waits for something from outside."""

    reason: WaitReason
    message: str
    at: float
    until: float | None = None
    kind: Literal["run_waits"] = "run_waits"


@frozen(kw_only=True)
class RunBlocked:
    """The run is blocked and needs a person."""

    reason: BlockReason
    message: str
    at: float
    address: str = ""
    next_step: str = ""
    escalate_to: str = ""
    kind: Literal["run_blocked"] = "run_blocked"


@frozen(kw_only=True)
class RunQueued:
    """The run waits for its turn: another one has its key, or the limit of concurrent runs is reached."""

    message: str
    behind: tuple[str, ...]
    """The runs that it waits for."""
    at: float
    kind: Literal["run_queued"] = "run_queued"


@frozen(kw_only=True)
class RunAdmitted:
    """It is the run's turn: it has its key, and continues."""

    at: float
    waited: bool = False
    """Whether it had to wait for that."""
    kind: Literal["run_admitted"] = "run_admitted"


@frozen(kw_only=True)
class RunResumed:
    """The run continues, and its current step starts over."""

    by: str
    at: float
    kind: Literal["run_resumed"] = "run_resumed"


@frozen(kw_only=True)
class RunRewound:
    """The run went back to before a step; what came after stays in the history."""

    to: str
    seq: int
    state: BlobDigest
    """The state before that step."""
    crossed: tuple[str, ...]
    """Effects that cannot be undone."""
    by: str
    at: float
    kind: Literal["run_rewound"] = "run_rewound"


@frozen(kw_only=True)
class RunTaken:
    """An outside performer drives the run from now on."""

    by: str
    at: float
    hands: Performer = "all"
    kind: Literal["run_taken"] = "run_taken"


@frozen(kw_only=True)
class RunReleased:
    """The engine drives the run again."""

    by: str
    at: float
    source: TreeSource | None = None
    """What an imported run creates its own worktree from."""
    tree: Tree | None = None
    """The worktree of its caller, in which an imported run continues."""
    workspace: str = ""
    """The folder in which an imported run works, if it gets no worktree of its own."""
    pass_env: tuple[str, ...] = ()
    """Names of variables that everything run in the worktree of an imported run sees."""
    agents: AgentPolicy | None = None
    """The agent policy of an imported run here: who performs steps that name no agent, how agents are confined."""
    admission: Admission | None = None
    """What an imported run waits for before it continues; without it, it continues at once."""
    kind: Literal["run_released"] = "run_released"


@frozen(kw_only=True)
class RunEnded:
    """The run is over."""

    status: Literal["succeeded", "failed", "cancelled"]
    at: float
    message: str = ""
    by: str = ""
    reason: EndReason | None = None
    kind: Literal["run_ended"] = "run_ended"


Event: TypeAlias = (
    RunStarted
    | RunForked
    | RunImported
    | WorkspaceReady
    | TreeRestored
    | FilesCompared
    | WorkEntered
    | WorkLeft
    | ItemStarted
    | ItemEnded
    | QuestionAsked
    | QuestionAnswered
    | MessageGiven
    | StepSkipped
    | StepChosen
    | StepBegan
    | StepEnded
    | StepRefused
    | WorkReported
    | DelegationReported
    | CheckpointMade
    | PreferencesSet
    | GapRecorded
    | CapabilityObserved
    | ToolCalled
    | ChildEnded
    | ContextMerged
    | CallRequested
    | StepPassedOver
    | RetryScheduled
    | TimerFired
    | LoopEntered
    | RoundStarted
    | RoundEnded
    | LoopEnded
    | GroupEntered
    | GroupLeft
    | ApprovalRequested
    | ApprovalDecided
    | ChildStarted
    | CommandRefused
    | PersonNotified
    | GitSettingsChanged
    | ClockNoted
    | RunWaits
    | RunBlocked
    | RunQueued
    | RunAdmitted
    | RunResumed
    | RunRewound
    | RunTaken
    | RunReleased
    | RunEnded
)
