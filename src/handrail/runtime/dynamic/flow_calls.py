"""The calls of a dynamic flow: steps typed and compiled as those of any workflow, and what the log has of them."""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, cast

import rfc8785
from rpds import HashTrieMap

from handrail.engine.decide.begin import begin
from handrail.engine.state.position import Moment
from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.model.history.events import ApprovalRequested, Event, RunBlocked, StepBegan
from handrail.model.history.run_state import RunState, StepState, changed
from handrail.model.source import Bundle, SourceText
from handrail.model.workflow.actions import ApprovalAction, DynamicAction, GateAction, ScriptAction
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.values import JsonValue

if TYPE_CHECKING:
    from handrail.compiler.builtins import Builtins

_MOST_WORDS = 120


class RefusedCall(Exception):
    """A call of a dynamic flow cannot be performed as it is written."""


@frozen
class Call:
    """A step that a flow asks for."""

    plan: Plan
    state: RunState
    step: Step
    spec: dict[str, JsonValue]
    """What decides whether two calls are the same."""

    @property
    def words(self) -> str:
        """The call in a few words."""
        said = str(self.spec.get("message") or _first_script(self.spec))
        return f"{self.spec['type']} '{self.step.name}' ({said[:_MOST_WORDS]})"

    @property
    def hash(self) -> str:
        """The hash of what it asks for."""
        return sha256(rfc8785.dumps(self.spec)).hexdigest()

    def begin(self, address: str, now: float) -> Event:
        """Give the event that begins it."""
        return begin(self.plan, self.state, self.step, Moment(address, now))

    def result(self, step: StepState) -> dict[str, object]:
        """Give what the log has of its outcome, as the flow is told it."""
        if isinstance(self.step.action, ApprovalAction):
            return {"decided": step.output}
        return {
            "result": {
                "success": step.status == "succeeded",
                "output": step.output,
                "exit_code": step.exit_code,
                "stdout": step.stdout,
                "stderr": step.stderr,
                "error": step.error,
            }
        }


def call_of(
    state: RunState,
    action: DynamicAction,
    asked: Mapping[str, JsonValue],
    values: Mapping[str, JsonValue],
    builtins: "Callable[[], Builtins]",
) -> Call:
    """Compile what a flow asks for; raises RefusedCall with what is wrong about it."""
    names = {**state.inputs, **values}
    plan = _compiled(asked, names, action, builtins)
    step = plan.steps[0]
    if not isinstance(step.action, ScriptAction | GateAction | ApprovalAction):
        raise RefusedCall(f"step '{step.name}' is of type {step.action.kind}; a flow calls script, gate or approval")
    nothing: HashTrieMap[str, str] = HashTrieMap()
    own = changed(state, names=HashTrieMap(names), latest=nothing)
    # Times stay out of what is compared: a deadline is another one each time.
    return Call(plan, own, step, _spec(begin(plan, own, step, Moment("", 0.0)), step))


def _compiled(
    asked: Mapping[str, JsonValue],
    names: Mapping[str, JsonValue],
    action: DynamicAction,
    builtins: "Callable[[], Builtins]",
) -> Plan:
    from handrail.authoring.python.objects import Workflow, to_document  # noqa: PLC0415 (few runs are dynamic)
    from handrail.compiler.catalog import Catalog  # noqa: PLC0415
    from handrail.compiler.compile import compile_document  # noqa: PLC0415

    report = Report()
    bundle = Bundle(action.file, {action.file: SourceText(action.file, action.source)})
    declared = {name: "issue" if name == "issue" else "json" for name in names}
    workflow = Workflow("call", input=declared, steps=[asked])
    document = to_document(workflow, bundle, report)
    plan = compile_document(document, Catalog(builtins()), report).plan if document is not None else None
    if plan is None:
        raise RefusedCall("; ".join(each.message for each in report))
    return plan


def _spec(event: Event, step: Step) -> dict[str, JsonValue]:
    same: dict[str, JsonValue] = {"name": step.name, "type": step.action.kind}
    match event:
        case StepBegan():
            return {**same, **_whole(event.spec, step)}
        case ApprovalRequested():
            return {**same, "message": event.message, "show": event.show, "timeout": step.timeout}
        case RunBlocked():
            raise RefusedCall(event.message)
        case _:
            raise RefusedCall(f"step '{step.name}' cannot be called")


def _whole(spec: dict[str, JsonValue], step: Step) -> dict[str, JsonValue]:
    """Give a spec with what is left out where it is as mostly: a hash that a log has covers all of it."""
    nothing: dict[str, JsonValue] = {"values": {}, "files": [], "sources": {}}
    commands = cast("list[dict[str, JsonValue]]", spec.get("commands") or [])
    whole: dict[str, JsonValue] = {"env": {}, "timeout": None}
    if isinstance(step.action, ScriptAction):
        whole |= {"json": False, "repeatable": True, "exit_loop": False}
    return {**whole, **spec, "commands": [{**nothing, **each} for each in commands]}


def _first_script(spec: Mapping[str, JsonValue]) -> str:
    commands = cast("list[dict[str, str]]", spec.get("commands") or [])
    return "; ".join(each["script"] for each in commands)
