"""What a step does: one frozen value per kind, a closed union."""

from dataclasses import field
from typing import TYPE_CHECKING, Literal, TypeAlias

from handrail.frozen import frozen
from handrail.model.workflow.guidance import DelegateAction, GuidedAction, GuidedLoopAction
from handrail.model.workflow.settings import AgentTask
from handrail.model.workflow.values import NOT_HASHED, Command, Expression, NamedValue, Value

if TYPE_CHECKING:
    from handrail.model.workflow.plan import Step


@frozen
class NamedCommand:
    """A check: a command with the name under which it is shown."""

    name: str
    command: Command


@frozen
class Checks:
    """Commands that must pass: the project's own, pinned when a run starts, or the ones given here."""

    project: bool = False
    commands: tuple[NamedCommand, ...] = ()


@frozen
class AgentAction:
    """One prompt to one agent."""

    task: AgentTask
    requires_approval: bool = False
    kind: Literal["agent"] = "agent"


@frozen
class Convergence:
    """When a review loop has nothing left to gain: findings below a severity, or rounds without progress."""

    severity: Value
    plateau: int = 2


MAX_REPAIRS = 3
"""The most fixes in one round of a review loop that may leave its checks red."""
MAX_ASKS = 2
"""How often reviewer and arbiter are asked in one round until their answer has the requested form."""


@frozen(kw_only=True)
class AgentLoopAction:
    """Review, judge, fix, repeat, until nothing worth fixing is left."""

    reviewer: AgentTask
    arbiter: AgentTask | None = None
    fixer: AgentTask | None = None
    """None: the reviewer fixes."""
    checks: Checks | None = None
    max_iterations: int = 5
    exit_when: Expression | None = None
    converge: Convergence | None = None
    on_max: Literal["continue", "block", "fail"] = "continue"
    escalate: bool = False
    decides: bool = False
    """Whether the result carries a decision: approve, reject or needs_clarification."""
    kind: Literal["agent-loop"] = "agent-loop"


@frozen
class While:
    """Tested before each round."""

    condition: Expression
    kind: Literal["while"] = "while"


@frozen
class Until:
    """Tested after each round."""

    condition: Expression
    kind: Literal["until"] = "until"


@frozen
class Times:
    """A number of rounds."""

    count: Value
    kind: Literal["times"] = "times"


@frozen
class Each:
    """A round per item; a map becomes items of `{key, value}`."""

    items: Value
    item: str = "item"
    key: Expression | None = None
    """Identity of an item; None: `item.id` if there is one, else its index."""
    kind: Literal["each"] = "each"


@frozen(kw_only=True)
class LoopAction:
    """A body of steps, repeated."""

    over: While | Until | Times | Each
    max_iterations: int
    steps: tuple["Step", ...]
    on_max: Literal["continue", "block", "fail"] = "continue"
    escalate: bool = False
    kind: Literal["loop"] = "loop"


@frozen(kw_only=True)
class ParallelAction:
    """A body of steps for each item, each in its own worktree, several at a time."""

    over: Each
    steps: tuple["Step", ...]
    after: Expression | None = None
    """Keys of the items whose branches an item starts from."""
    max_concurrent: Value | None = None
    kind: Literal["parallel-agents"] = "parallel-agents"


def describe_order_fault(after: dict[str, list[str]]) -> str | None:
    """Describe what prevents items, each with its dependencies, from having an order; None if they have one."""
    for key, others in after.items():
        for other in others:
            if other not in after:
                return f"item '{key}' depends on '{other}', which does not exist"
    waiting = dict(after)
    while ready := [key for key, others in waiting.items() if not waiting.keys() & set(others)]:
        for key in ready:
            del waiting[key]
    if not waiting:
        return None
    path = [next(iter(waiting))]
    while path[-1] not in path[:-1]:
        path.append(next(other for other in waiting[path[-1]] if other in waiting))
    return "circular dependency: " + " → ".join(path[path.index(path[-1]) :])


@frozen
class ScriptAction:
    """A shell command in the workspace."""

    command: Command
    env: tuple[NamedValue, ...] = ()
    repeatable: bool = True
    parse_json: bool = False
    on_success: Literal["exit_loop"] | None = None
    project: Literal["outdated", "update"] | None = None
    """The command of the project's configuration that is run instead of the one written here."""
    kind: Literal["script"] = "script"


@frozen(kw_only=True)
class GateAction:
    """Checks that must pass, with an agent that may fix between attempts."""

    checks: Checks
    fix: AgentTask | None = None
    env: tuple[NamedValue, ...] = ()
    warn_when: Expression | None = None
    message: Value | None = None
    kind: Literal["gate"] = "gate"


@frozen(kw_only=True)
class ApprovalAction:
    """A person approves, asks to revise, or rejects."""

    message: Value | None = None
    show: tuple[Expression, ...] = ()
    revise: str | None = None
    """The earlier step that a revision goes back to; None if there is none."""
    max_revisions: int = 3
    kind: Literal["approval"] = "approval"


@frozen
class CallAction:
    """Another workflow, as a child run; its inputs are the step's `input`."""

    workflow: str
    kind: Literal["workflow"] = "workflow"


@frozen
class GroupAction:
    """A routine's steps, expanded in place; they see the routine's own inputs, bound here, and nothing else."""

    routine: str
    inputs: tuple[NamedValue, ...]
    steps: tuple["Step", ...]
    kind: Literal["use"] = "use"


@frozen
class CreateIssuesAction:
    """Issues in the tracker, from a list of records."""

    items: Value
    labels: tuple[str, ...] = ()
    kind: Literal["create-issues"] = "create-issues"


@frozen
class CommitAction:
    """A commit of what changed."""

    message: Value
    paths: Value | None = None
    kind: Literal["commit"] = "commit"


@frozen
class MergeAction:
    """Branches merged into the run's branch."""

    branches: Value
    checks: Checks | None = None
    on_conflict: AgentTask | None = None
    kind: Literal["merge"] = "merge"


@frozen
class Follow:
    """What a run does with its pull request once that is open."""

    on: tuple[str, ...]
    fix: AgentTask


@frozen(kw_only=True)
class PullRequestAction:
    """A pull request, opened or updated."""

    title: Value
    body: "Value | AgentTask | None" = None
    base: Value | None = None
    draft: Value | None = None
    labels: Value | None = None
    reviewers: Value | None = None
    key: Value | None = None
    follow: Follow | None = None
    kind: Literal["pull-request"] = "pull-request"


@frozen
class EndAction:
    """The run ends here."""

    message: Value | None = None
    status: Literal["succeeded", "failed"] = "succeeded"
    kind: Literal["end"] = "end"


@frozen
class FlowFile:
    """A file beside a flow, as it was when the flow was read."""

    path: str
    text: str


@frozen
class DynamicAction:
    """A coroutine that calls steps; its calls are recorded, and it is replayed from them."""

    source: str
    """The text of the Python file, which is thereby pinned with the plan."""
    file: str
    """The file's name, for people."""
    files: tuple[FlowFile, ...] = ()
    """The prompts that its calls may name, pinned with it."""
    origin: str = field(default="", metadata=NOT_HASHED)
    """Who owns it, which decides what the names of workflows in it mean."""
    kind: Literal["dynamic"] = "dynamic"


Action: TypeAlias = (
    AgentAction
    | AgentLoopAction
    | LoopAction
    | ParallelAction
    | ScriptAction
    | GateAction
    | ApprovalAction
    | CallAction
    | GroupAction
    | CreateIssuesAction
    | CommitAction
    | MergeAction
    | PullRequestAction
    | EndAction
    | DynamicAction
    | GuidedAction
    | GuidedLoopAction
    | DelegateAction
)


def describe_preparation(action: Action) -> str | None:
    """Describe what is left to a person after a step that this version only prepares; None for every other step."""
    match action:
        case CreateIssuesAction():
            return "creates issues"
        case _:
            return None


def body(action: Action) -> tuple["Step", ...]:
    """Return the steps inside an action."""
    match action:
        case LoopAction() | ParallelAction() | GroupAction() | GuidedLoopAction():
            return action.steps
        case _:
            return ()


def has_escalation(action: Action) -> bool:
    """Whether a step of several rounds notifies somebody when it ends without reaching its goal."""
    return isinstance(action, LoopAction | AgentLoopAction) and action.escalate


def add_escalation(message: str, to: str) -> str:
    """Add to a message who else is notified."""
    return f"{message}; escalated to {to}" if to else message
