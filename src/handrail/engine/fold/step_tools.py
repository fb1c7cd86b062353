"""What the tools do that an agent of the engine may call while it works: decided here, recorded by whoever drives.

1. A call counts only while the step is pending for which the agent was called.
2. Every call is recorded, a failed one with its error.
3. A run that a tool starts is no outcome of the step: it goes on by itself, and what it takes counts for this run too.
"""

from collections.abc import Iterable
from dataclasses import asdict
from typing import cast

from handrail.engine.state.budgets import around_children, left_for_children
from handrail.engine.state.position import current
from handrail.frozen import frozen
from handrail.model.history.events import ChildEnded, Event, Parent, RunStarted, StepBegan, ToolCalled
from handrail.model.history.run_state import Pending, RunState, changed
from handrail.model.history.spending import Spent
from handrail.model.history.trees import TreeSource
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue

MOST_CHILDREN = 20
"""Runs that the agents of one run may start."""
MOST_DEPTH = 3
"""Generations of runs below the one that a person started."""
PUT = "your question was put to a person; end your turn now, you will be called again with the answer"


@frozen(kw_only=True)
class ChildWanted:
    """A run that is to be started: its workflow is found, compiled and trusted, its plan is kept."""

    workflow: str
    definition: str
    plan: str
    inputs: dict[str, JsonValue]
    task: str
    calls: str = ""
    timeout: int | None = None


@frozen(kw_only=True)
class Call:
    """One call of a tool, checked as far as that can be done without the run's state."""

    call: str
    seq: int
    """Under which the step is pending for which the agent was called."""
    address: str
    tool: str
    arguments: dict[str, JsonValue]
    result: JsonValue = None
    error: str = ""
    child: ChildWanted | None = None


@frozen
class Decided:
    """What is recorded of a call, and the run that begins with it."""

    event: ToolCalled
    begins: RunStarted | None = None


def decided(plan: Plan, state: RunState, call: Call, now: float) -> Decided:
    """Decide on a call."""
    pending = state.pending
    if pending is None or pending.seq != call.seq or pending.kind != "step" or state.status != "running":
        return Decided(_event(call, now, error=f"step '{call.address}' is over: its tools cannot be used any more"))
    if call.error:
        return Decided(_event(call, now, error=call.error))
    if call.child is None:
        return Decided(_event(call, now, result=call.result))
    error = refusal(state)
    if error:
        return Decided(_event(call, now, error=error))
    begins = _begins(plan, state, pending, call.child, now)
    branch = "" if begins.source is None else begins.source.branch
    return Decided(_event(call, now, result={"run": begins.run, "workflow": begins.workflow, "branch": branch}), begins)


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
    """Say why the agents of a run may not start another run; nothing where they may."""
    depth = state.generation
    if depth >= MOST_DEPTH:
        return f"{state.run} is {depth} generations below the run that a person started, and {MOST_DEPTH} are the most"
    if len(state.children) >= MOST_CHILDREN:
        return f"the agents of {state.run} have started {MOST_CHILDREN} runs, which is the most"
    if state.tree is None or not state.tree.owned:
        return "a run needs a work tree of its own, and this one works in a plain folder: start it in a git repository"
    return ""


def _begins(plan: Plan, state: RunState, pending: Pending, wanted: ChildWanted, now: float) -> RunStarted:
    run = f"{state.run}.{state.seq + 1}"
    inside = state.stack[-1].work is not None or state.flow is not None
    step = None if inside else current(plan, state)[0]
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
        allowance=left_for_children(plan, state, step, pending.address),
        around=around_children(plan, state, step),
        checks=state.checks,
        project=state.project,
        parent=Parent(state.run, f"{pending.address}[child-{len(state.children) + 1}]", state.seq + 1),
        timeout=wanted.timeout,
        root=state.family,
        generation=state.generation + 1,
        at=now,
    )


def _source(state: RunState, run: str) -> TreeSource | None:
    """A work tree of its own, with the work as it stood before the step whose agent asks."""
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


def called(state: RunState, event: ToolCalled) -> RunState:
    """Keep what the agent says of how far it is, and the run that it started."""
    if not event.success:
        return state
    if event.tool == "report_progress" and state.pending is not None:
        return changed(state, said=(state.pending.seq, progress_words(event.arguments)))
    child = started_by(event)
    return changed(state, children=state.children.insert(child, {})) if child else state


def started_by(event: Event) -> str:
    """Name the run that an agent started by a tool; nothing for every other event."""
    if not isinstance(event, ToolCalled) or event.tool != "create_child_run" or not event.success:
        return ""
    return str(event.result.get("run", "")) if isinstance(event.result, dict) else ""


def progress_words(arguments: dict[str, JsonValue]) -> str:
    """Say how far an agent is, in its own words: `tests are written (40 %)`."""
    percent = arguments.get("percent")
    share = f" ({percent:g} %)" if isinstance(percent, int | float) else ""
    return f"{' '.join(str(arguments.get('message', '')).split())}{share}"


def child_over(state: RunState, event: ChildEnded) -> RunState:
    """Count what a run took that an agent had started; one that ended before took only what came since."""
    known = state.children.get(event.child)
    before = cast("dict[str, float]", known) if isinstance(known, dict) else {}
    growth = {name: amount - before.get(name, 0.0) for name, amount in event.spent.items()}
    children = state.children.insert(event.child, cast("JsonValue", event.spent))
    return changed(state, spent=state.spent.plus(growth), children=children)


def child_ended(state: RunState, child: RunState, now: float) -> ChildEnded | None:
    """Give the event that a run is over which an agent of this one started; None where it is none, or not over."""
    if child.run not in state.children or child.status not in ("succeeded", "failed", "cancelled"):
        return None
    return ChildEnded(child=child.run, status=child.status, message=child.message, spent=_amounts(child.spent), at=now)


def _amounts(spent: Spent) -> dict[str, float]:
    return {name: float(amount) for name, amount in asdict(spent).items() if amount}


def tools_of(began: StepBegan) -> tuple[str, ...]:
    """Name the tools that a step offers its agent."""
    call = began.spec if began.action == "agent" else began.spec.get("call")
    listed = call.get("handrail_tools") if isinstance(call, dict) else None
    return tuple(map(str, listed)) if isinstance(listed, list) else ()


def question_in(events: Iterable[Event]) -> str:
    """Give what an agent asked by a tool, all of it together; nothing where it asked nothing."""
    asked = (each for each in events if isinstance(each, ToolCalled) and each.tool == "ask_person" and each.success)
    return "\n\n".join(str(each.arguments.get("question", "")) for each in asked)
