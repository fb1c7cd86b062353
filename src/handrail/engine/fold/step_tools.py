"""Decides on the tools that an agent of the engine may call while it works; whoever drives the run records them.

1. A call counts only while the step for which the agent was called is pending.
2. Every call is recorded, a failed one with its error.
3. A run that a tool starts is not the outcome of the step: it continues independently, and its cost counts here too.
"""

from collections.abc import Iterable
from dataclasses import asdict
from typing import cast

from handrail.engine.state.budgets import enclosing_budget, remaining_budget
from handrail.engine.state.position import find_current_step
from handrail.frozen import frozen
from handrail.model.history.events import ChildEnded, Event, Parent, RunStarted, StepBegan, ToolCalled
from handrail.model.history.run_state import Pending, RunState, update_state
from handrail.model.history.spending import Spending
from handrail.model.history.trees import TreeSource
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue

MAX_CHILDREN = 20
"""The most runs that the agents of one run may start."""
MAX_DEPTH = 3
"""The most generations of runs below the one that a person started."""
QUESTION_ASKED = "your question was sent to a person; end your turn now, you will be called again with the answer"


@frozen(kw_only=True)
class ChildRequest:
    """A run to be started, whose workflow is found, compiled and trusted and whose plan is stored."""

    workflow: str
    definition: str
    plan: str
    inputs: dict[str, JsonValue]
    task: str
    calls: str = ""
    timeout: int | None = None


@frozen(kw_only=True)
class Call:
    """One call of a tool, validated as far as possible without the run's state."""

    call: str
    seq: int
    """The sequence number under which the step that called the agent is pending."""
    address: str
    tool: str
    arguments: dict[str, JsonValue]
    result: JsonValue = None
    error: str = ""
    child: ChildRequest | None = None


@frozen
class CallDecision:
    """The event that records a call, and the start of the run that begins with it."""

    event: ToolCalled
    begins: RunStarted | None = None


def decide_call(plan: Plan, state: RunState, call: Call, now: float) -> CallDecision:
    """Decide on a call."""
    pending = state.pending
    if pending is None or pending.seq != call.seq or pending.kind != "step" or state.status != "running":
        return CallDecision(
            _event(call, now, error=f"step '{call.address}' has ended: its tools can no longer be used")
        )
    if call.error:
        return CallDecision(_event(call, now, error=call.error))
    if call.child is None:
        return CallDecision(_event(call, now, result=call.result))
    error = refusal(state)
    if error:
        return CallDecision(_event(call, now, error=error))
    begins = _start_child(plan, state, pending, call.child, now)
    branch = "" if begins.source is None else begins.source.branch
    return CallDecision(
        _event(call, now, result={"run": begins.run, "workflow": begins.workflow, "branch": branch}), begins
    )


def _event(call: Call, now: float, result: JsonValue = None, error: str = "") -> ToolCalled:
    return ToolCalled(
        tool=call.tool,
        address=call.address,
        success=not error,
        arguments=call.arguments,
        result=result,
        error=error,
        call=call.call,
        at=now,
    )


def refusal(state: RunState) -> str:
    """Explain why the agents of a run may not start another run; empty where they may."""
    depth = state.generation
    if depth >= MAX_DEPTH:
        return f"{state.run} is {depth} generations below the run that a person started; the maximum is {MAX_DEPTH}"
    if len(state.children) >= MAX_CHILDREN:
        return f"the agents of {state.run} have started {MAX_CHILDREN} runs, which is the maximum"
    if state.tree is None or not state.tree.owned:
        return (
            "a new run needs its own worktree, but this run works in a plain folder: start this run in a git repository"
        )
    return ""


def _start_child(plan: Plan, state: RunState, pending: Pending, wanted: ChildRequest, now: float) -> RunStarted:
    run = f"{state.run}.{state.seq + 1}"
    inside = state.stack[-1].work is not None or state.flow is not None
    step = None if inside else find_current_step(plan, state)[0]
    return RunStarted(
        run=run,
        workflow=wanted.workflow,
        definition=wanted.definition,
        plan=wanted.plan,
        calls=wanted.calls,
        inputs=wanted.inputs,
        workspace="",
        source=_source(state, run),
        agent=state.agent,
        agents=state.agents,
        script=state.script,
        pass_env=state.pass_env,
        task=wanted.task,
        allowance=remaining_budget(plan, state, step, pending.address),
        around=enclosing_budget(plan, state, step),
        checks=state.checks,
        project=state.project,
        parent=Parent(state.run, f"{pending.address}[child-{len(state.children) + 1}]", state.seq + 1),
        timeout=wanted.timeout,
        root=state.family,
        generation=state.generation + 1,
        at=now,
    )


def _source(state: RunState, run: str) -> TreeSource | None:
    """Describe a new worktree with the work as it was before the step whose agent asks."""
    tree, around = state.tree, state.pinned
    if tree is None:
        return None
    return TreeSource(
        repository=tree.repository,
        base=tree.base,
        commit=tree.commit,
        branch=f"work/{run}",
        changes=state.snapshot,
        copy=around.copy if around is not None else (),
        setup=around.setup if around is not None else (),
        setup_timeout=around.setup_timeout if around is not None else 600,
        teardown=around.teardown if around is not None else (),
    )


def fold_tool_called(state: RunState, event: ToolCalled) -> RunState:
    """Record the progress that an agent reports, or the run that it started."""
    if not event.success:
        return state
    if event.tool == "report_progress" and state.pending is not None:
        return update_state(state, said=(state.pending.seq, progress_words(event.arguments)))
    child = run_started_by(event)
    return update_state(state, children=state.children.insert(child, {})) if child else state


def run_started_by(event: Event) -> str:
    """Return the id of the run that an agent started with a tool; empty for every other event."""
    if not isinstance(event, ToolCalled) or event.tool != "create_child_run" or not event.success:
        return ""
    return str(event.result.get("run", "")) if isinstance(event.result, dict) else ""


def progress_words(arguments: dict[str, JsonValue]) -> str:
    """Format an agent's progress in its own words: `tests are written (40 %)`."""
    percent = arguments.get("percent")
    share = f" ({percent:g} %)" if isinstance(percent, int | float) else ""
    return f"{' '.join(str(arguments.get('message', '')).split())}{share}"


def fold_child_ended(state: RunState, event: ChildEnded) -> RunState:
    """Add the cost of a run that an agent started; a run that ended before adds only what was spent since."""
    known = state.children.get(event.child)
    before = cast("dict[str, float]", known) if isinstance(known, dict) else {}
    growth = {name: amount - before.get(name, 0.0) for name, amount in event.spent.items()}
    children = state.children.insert(event.child, cast("JsonValue", event.spent))
    return update_state(state, spent=state.spent.plus(growth), children=children)


def report_child_end(state: RunState, child: RunState, now: float) -> ChildEnded | None:
    """Build the event that ends a run started by an agent of this one; None if it is not such a run or not over."""
    if child.run not in state.children or child.status not in ("succeeded", "failed", "cancelled"):
        return None
    return ChildEnded(child=child.run, status=child.status, message=child.message, spent=_amounts(child.spent), at=now)


def _amounts(spent: Spending) -> dict[str, float]:
    return {name: float(amount) for name, amount in asdict(spent).items() if amount}


def tools_of(began: StepBegan) -> tuple[str, ...]:
    """List the tools that a step offers its agent."""
    call = began.spec if began.action == "agent" else began.spec.get("call")
    listed = call.get("handrail_tools") if isinstance(call, dict) else None
    return tuple(map(str, listed)) if isinstance(listed, list) else ()


def question_in(events: Iterable[Event]) -> str:
    """Return what an agent asked with a tool, all questions together; empty where it asked nothing."""
    asked = (each for each in events if isinstance(each, ToolCalled) and each.tool == "ask_person" and each.success)
    return "\n\n".join(str(each.arguments.get("question", "")) for each in asked)
