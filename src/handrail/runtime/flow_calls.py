"""What a dynamic flow is given: steps to call, typed and compiled as those of any workflow, and their results."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from rpds import HashTrieMap

from handrail.engine.begin import begin
from handrail.engine.walk import Moment
from handrail.model.actions import ApprovalAction, DynamicAction, GateAction, ScriptAction
from handrail.model.diagnostics import Report
from handrail.model.events import ApprovalRequested, Event, RunBlocked, StepBegan
from handrail.model.plan import Plan, Step
from handrail.model.run import RunState, StepState, changed
from handrail.model.source import Bundle, SourceText
from handrail.model.values import JsonValue
from handrail.runtime.ports import Clock

if TYPE_CHECKING:
    from handrail.authoring.objects import Step as StepObject

_PYTHON_DOES = ("when", "retry", "on_fail", "output")
"""Keys of a step that Python itself says better here."""
_MOST_WORDS = 120


class FlowError(Exception):
    """A call of a dynamic flow cannot be performed as it is written."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """What became of a step that a flow called; a failed one is for the flow to deal with."""

    success: bool
    output: JsonValue
    exit_code: int | None
    stdout: str
    stderr: str
    error: str


@dataclass(frozen=True, slots=True)
class Decided:
    """What a person answered."""

    decision: str
    feedback: str
    by: str

    @property
    def approved(self) -> bool:
        """Whether it may go on."""
        return self.decision == "approve"


@dataclass(frozen=True, slots=True)
class Call:
    """A step that a flow asks for; awaiting it gives its result."""

    plan: Plan
    state: RunState
    step: Step
    spec: dict[str, JsonValue]
    """What decides whether two calls are the same."""

    def __await__(self) -> Generator["Call", Any, Any]:
        return (yield self)

    @property
    def words(self) -> str:
        """The call in a few words."""
        said = str(self.spec.get("message") or _first_script(self.spec))
        return f"{self.spec['type']} '{self.step.name}' ({said[:_MOST_WORDS]})"

    def begin(self, address: str, now: float) -> Event:
        """Give the event that begins it."""
        return begin(self.plan, self.state, self.step, Moment(address, now))

    def result(self, step: StepState) -> CallResult | Decided:
        """Give what the log has of its outcome."""
        if isinstance(self.step.action, ApprovalAction):
            said = cast("dict[str, str]", step.output)
            return Decided(said["decision"], said["feedback"], said["by"])
        good = step.status == "succeeded"
        return CallResult(good, step.output, step.exit_code, step.stdout, step.stderr, step.error)


class FlowContext:
    """The `ctx` of `async def run(ctx)`."""

    def __init__(self, state: RunState, action: DynamicAction, clock: Clock) -> None:
        self.run = state.run
        self.task = state.task
        self.inputs: dict[str, JsonValue] = dict(state.inputs)
        self._state = state
        self._action = action
        self._clock = clock

    def run_step(
        self, step: "StepObject | str", command: str | None = None, values: Mapping[str, JsonValue] | None = None
    ) -> Call:
        """Call a step: an object such as Script or Gate, or a name with a command; `values` are what `${...}` reads."""
        from handrail.authoring.objects import Script  # noqa: PLC0415 (few runs are dynamic)

        if not isinstance(step, str):
            return self._call(step, values or {})
        if command is None:
            raise FlowError(f"run_step('{step}') says nothing to do: give a command, or a step object")
        return self._call(Script(step, command=command), values or {})

    def approve(self, message: str, name: str = "approve") -> Call:
        """Ask a person; the answer has `approved`, `decision`, `feedback` and `by`."""
        from handrail.authoring.objects import Approval  # noqa: PLC0415

        return self._call(Approval(name, message="${message}"), {"message": message})

    def _call(self, made: "StepObject", values: Mapping[str, JsonValue]) -> Call:
        said = [key for key in _PYTHON_DOES if getattr(made, key, None) is not None]
        if said:
            raise FlowError(f"step '{made.name}' says {', '.join(said)}: in a flow write that in Python")
        names = {**self.inputs, **values}
        plan = _compiled(made, names, self._action)
        step = plan.steps[0]
        if not isinstance(step.action, ScriptAction | GateAction | ApprovalAction):
            kind = step.action.kind
            raise FlowError(f"step '{made.name}' is of type {kind}; a flow calls script, gate or approval")
        nothing: HashTrieMap[str, str] = HashTrieMap()
        state = changed(self._state, names=HashTrieMap(names), latest=nothing)
        # Times stay out of what is compared: a deadline is another one each time.
        return Call(plan, state, step, _spec(begin(plan, state, step, Moment("", 0.0)), step))


def _compiled(made: "StepObject", names: Mapping[str, JsonValue], action: DynamicAction) -> Plan:
    from handrail.authoring.objects import Workflow, to_document  # noqa: PLC0415 (few runs are dynamic)
    from handrail.compiler.catalog import Catalog  # noqa: PLC0415
    from handrail.compiler.compile import compile_document  # noqa: PLC0415
    from handrail.sources.library import builtins  # noqa: PLC0415

    report = Report()
    bundle = Bundle(action.file, {action.file: SourceText(action.file, action.source)})
    declared = {name: "issue" if name == "issue" else "json" for name in names}
    workflow = Workflow("call", input=declared, steps=[made])
    document = to_document(workflow, bundle, report)
    plan = compile_document(document, Catalog(builtins()), report).plan if document is not None else None
    if plan is None:
        raise FlowError("; ".join(each.message for each in report))
    return plan


def _spec(event: Event, step: Step) -> dict[str, JsonValue]:
    same: dict[str, JsonValue] = {"name": step.name, "type": step.action.kind}
    match event:
        case StepBegan():
            return {**same, **event.spec}
        case ApprovalRequested():
            return {**same, "message": event.message, "show": event.show, "timeout": step.timeout}
        case RunBlocked():
            raise FlowError(event.message)
        case _:
            raise FlowError(f"step '{step.name}' cannot be called")


def _first_script(spec: Mapping[str, JsonValue]) -> str:
    commands = cast("list[dict[str, str]]", spec.get("commands") or [])
    return "; ".join(each["script"] for each in commands)
