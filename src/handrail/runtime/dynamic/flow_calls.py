"""The calls of a flow: what Python asked for, compiled like a step of any workflow.

1. Calls are identified by the request as Python made it, never by what becomes of it: the rendered prompt and what an
agent learns about the run differ from run to run.
2. Commands, plain checks and approvals are steps of the flow's own run. Everything else is a run of its own with a plan
of one step, in the same worktree, so that proofs, budgets, conversations and transcripts work as for any step.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import rfc8785
from rpds import HashTrieMap

from handrail.engine.decide.begin import begin
from handrail.engine.fold.dynamic import SLEEP
from handrail.engine.state.position import StepStart
from handrail.frozen import frozen
from handrail.model.history.events import ChildStarted, Event, QuestionAsked, RunBlocked, StepBegan
from handrail.model.history.run_state import Pending, RunState, StepState, update_state
from handrail.model.workflow.actions import ApprovalAction, CallAction, EndAction, GateAction, ScriptAction
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.values import JsonValue
from handrail.runtime.dynamic.compile_call import Conversation, RefusedCall, compile_call
from handrail.runtime.history import encode_plan

if TYPE_CHECKING:
    from handrail.compiler.builtins import Builtins

_MAX_WORDS = 120
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_SAYS = ("message", "command", "checks", "prompt", "workflow")
"""Keys of a step, the first of which that is set describes it best."""
Data = dict[str, JsonValue]


@frozen
class FlowCallContext:
    """The context in which a call is made."""

    state: RunState
    address: str
    now: float
    around: Pending
    """The dynamic step."""


@frozen
class Call:
    """A call that a flow makes."""

    name: str
    kind: str
    step: Data
    """The step as Python asked for it."""
    values: Data
    hash: str
    plan: Plan | None = None
    """A plan of one step; None where a flow only asks a question or sleeps."""
    talk: Conversation | None = None
    """The conversation that later calls may continue."""

    @property
    def words(self) -> str:
        """Describe the call in a few words."""
        said = next((_text(self.step[key]) for key in _SAYS if self.step.get(key)), "")
        # A message and a question are passed as values: their text is not a template.
        said = str(self.values.get("message") or self.values.get("question") or self.values.get("seconds") or said)
        return f"{self.kind} '{self.name}' ({' '.join(said.split())[:_MAX_WORDS]})"

    def begin(self, ctx: FlowCallContext, keep: Callable[[bytes], str]) -> Event:
        """Build the event that begins the call; `keep` stores its plan, where it is a run of its own."""
        if self.plan is None:
            return self._wait(ctx)
        event = begin_step(self.plan, ctx, self.values)
        step = self.plan.steps[0]
        if event is not None and is_direct(step):
            return event
        # The request itself is the event before the one that begins it.
        child = f"{ctx.state.run}.{ctx.state.seq + 2}"
        if isinstance(event, ChildStarted):
            return replace(event, child=child)
        own = replace(step, name=ctx.address.rpartition("/")[2], on_fail="fail")
        return ChildStarted(
            address=ctx.address,
            child=child,
            workflow=ctx.state.workflow,
            plan=keep(encode_plan(replace(self.plan, name=ctx.state.workflow, steps=(own,)))),
            inputs={**ctx.state.inputs, **self.values},
            at=ctx.now,
        )

    def _wait(self, ctx: FlowCallContext) -> Event:
        if self.kind == "question":
            asked = str(self.values["question"])
            return QuestionAsked(address=ctx.address, began=ctx.around.seq, question=asked, at=ctx.now)
        spec: Data = {"until": self._end_time(ctx)}
        return StepBegan(address=ctx.address, action=SLEEP, attempt=1, spec=spec, at=ctx.now)

    def _end_time(self, ctx: FlowCallContext) -> float:
        """Return when the sleep is over; an interruption in the middle does not make it longer."""
        known = ctx.state.steps.get(ctx.address)
        if known is not None and known.status in ("running", "waiting") and isinstance(known.output, int | float):
            return float(known.output)
        seconds: Any = self.values["seconds"]
        return ctx.now + float(seconds)

    def result(self, step: StepState) -> dict[str, object]:
        """Return the recorded outcome in the form that the flow receives."""
        if self.kind in ("approval", "question"):
            return {"decided" if self.kind == "approval" else "answered": step.output, "now": step.ended_at}
        told = ("output", "exit_code", "stdout", "stderr", "error")
        result = {"success": step.status == "succeeded", **{name: getattr(step, name) for name in told}}
        return {"result": result, "now": step.ended_at}


def is_direct(step: Step) -> bool:
    """Whether a step is performed in the flow's own run: it has nothing beyond what its intent says."""
    plain = not step.done_when and not step.retry.more and step.budget is None
    match step.action:
        case ScriptAction() | ApprovalAction():
            return plain
        case GateAction():
            return plain and step.action.fix is None and step.action.warn_when is None
        case _:
            return False


def begin_step(plan: Plan, ctx: FlowCallContext, values: Mapping[str, JsonValue]) -> Event | None:
    """Build the event that begins a step of the flow's own run, or a workflow; None for what needs a run of its own."""
    step = plan.steps[0]
    if not is_direct(step) and not isinstance(step.action, CallAction):
        return None
    names = {**ctx.state.inputs, **values}
    own = update_state(ctx.state, names=HashTrieMap(names), latest=HashTrieMap())
    event = begin(plan, own, step, StepStart(ctx.address, ctx.now))
    if isinstance(event, RunBlocked):
        raise RefusedCall(event.message)
    return event


@frozen
class CallCompiler:
    """What is needed to interpret calls, besides the request."""

    flow: Plan
    builtins: "Callable[[], Builtins]"
    talks: tuple[Conversation, ...] = ()
    """The conversations of earlier calls, the newest last."""


def call_of(ctx: FlowCallContext, asked: Mapping[str, Any], compiler: CallCompiler) -> Call:
    """Interpret what a flow asks for; raises RefusedCall with what is wrong with it."""
    step: Data = asked["step"]
    values: Data = asked["values"]
    name, kind = str(step.get("name", "")), str(step.get("type", ""))
    digest = _digest(ctx.state, {"step": step, "values": values})
    if kind in ("question", SLEEP):
        if not _NAME.fullmatch(name):
            raise RefusedCall(f"'{name}' cannot be the name of a call: use letters, digits, dots and dashes")
        return Call(name, kind, step, values, digest)
    made = compile_call(compiler.flow, step, {**ctx.state.inputs, **values}, compiler.builtins, compiler.talks)
    action = made.steps[0].action
    if isinstance(action, EndAction):
        raise RefusedCall(f"step '{name}' ends a workflow: return from run() instead")
    # Refuse a step that cannot begin before it is recorded.
    begin_step(made, ctx, values)
    talk = Conversation(name, step.get("agent"), step.get("model")) if action.kind == "agent" else None
    return Call(name, action.kind, step, values, digest, made, talk)


def _digest(state: RunState, request: Data) -> str:
    """Compute the hash of a request without the run's id and workspace, which differ in a copy of the run."""
    text = rfc8785.dumps(request).decode()
    for place, word in ((state.workspace, "<workspace>"), (state.run, "<run>")):
        text = text.replace(place, word) if place else text
    return sha256(text.encode()).hexdigest()


def _text(value: JsonValue) -> str:
    return "; ".join(map(str, value.values())) if isinstance(value, dict) else str(value)
