"""Which names a step may use, and what is known about their types."""

from collections.abc import Collection, Generator
from contextlib import contextmanager

from handrail.compiler.record_types import ISSUE, PROJECT, REVIEW_ROUND, RUN, record, result_type, step_type
from handrail.model.names import make_identifier
from handrail.model.workflow.actions import AgentLoopAction, Each, GroupAction, LoopAction, ParallelAction
from handrail.model.workflow.guidance import GuidedLoopAction
from handrail.model.workflow.plan import Input, Plan, Step
from handrail.model.workflow.types import ANY, INT, STRING, Field, GrowingRecord, MapType, RecordType, Type, describe

RESERVED = frozenset(
    {"input", "steps", "run", "issue", "previous_step", "current_step", "item", "round", "env", "loop"}
)
"""Names that no input or output may have; the exception is an input `issue` of type issue."""


CURRENT_STEP = record(name=STRING)
CURRENT_STEP_WITH_PROMPT = record(name=STRING, prompt=STRING)
"""What a handoff template knows about its step."""


class Scope:
    """The names in force at the current point while a workflow is walked from top to bottom."""

    def __init__(self, inputs: tuple[Input, ...], own_inputs: Collection[str] = ()) -> None:
        self.steps = GrowingRecord()
        self._own = frozenset(own_inputs)
        self._outputs: set[str] = set()
        self.names: dict[str, Type] = {
            "input": RecordType(tuple(Field(make_identifier(each.name), each.type) for each in inputs)),
            "steps": self.steps,
            "run": RUN,
            "issue": ISSUE,
            "project": PROJECT,
            "previous_step": record(name=STRING, output=ANY, summary=STRING, status=STRING),
            "current_step": CURRENT_STEP,
            "env": MapType(STRING),
        }
        self.names.update({make_identifier(each.name): each.type for each in inputs})

    def define(self, step: Step) -> None:
        """Make the record and output of a step known to the steps after it."""
        self.steps.table[make_identifier(step.name)] = Field(make_identifier(step.name), step_type(step))
        if step.output is not None:
            self.names[make_identifier(step.output)] = result_type(step)
            self._outputs.add(make_identifier(step.output))

    def is_own(self, path: tuple[str, ...]) -> bool:
        """Whether a value is the workflow's own, so that it cannot come from an issue, agent, command or caller."""
        if path[0] == "current_step":
            return True
        return path[0] in self._own and path[0] not in self._outputs

    @contextmanager
    def enter_body(
        self, names: dict[str, Type], *, leaks: bool = True, own: Collection[str] = frozenset()
    ) -> Generator[None]:
        """Add names for a body; what its steps define remains known afterwards only with `leaks`."""
        own_before, self._own = self._own, (self._own - names.keys()) | frozenset(own)
        hidden = {name: self.names.get(name) for name in names}
        before = None if leaks else (dict(self.names), dict(self.steps.table))
        self.names.update(names)
        try:
            yield
        finally:
            if before is not None:
                self.names.clear()
                self.names.update(before[0])
                self.steps.table.clear()
                self.steps.table.update(before[1])
            self._own = own_before
            for name, type_ in hidden.items():
                if type_ is None:
                    self.names.pop(name, None)
                else:
                    self.names[name] = type_


def loop_names(action: LoopAction | ParallelAction, item: Type) -> dict[str, Type]:
    """Return the names that a body has in addition to those around it."""
    names: dict[str, Type] = {"round": INT} if isinstance(action, LoopAction) else {}
    if isinstance(action.over, Each):
        names[make_identifier(action.over.item)] = item
    return names


def names_at(plan: Plan) -> dict[str, dict[str, str]]:
    """List the names that each step may use, by its address, with their types."""
    scope = Scope(plan.inputs)
    if plan.selection == "rescan":
        # Guided prompts see the run's context, which steps fill as they go, and none of the native names.
        scope.names.clear()
        scope.names["goal"] = STRING
    found: dict[str, dict[str, str]] = {}
    _walk(plan.steps, scope, "", found)
    return found


def _walk(steps: tuple[Step, ...], scope: Scope, prefix: str, found: dict[str, dict[str, str]]) -> None:
    for step in steps:
        address = prefix + step.name
        own: dict[str, Type] = {make_identifier(each.name): ANY for each in step.input}
        if isinstance(step.action, AgentLoopAction):
            own.update(REVIEW_ROUND)
        found[address] = {name: describe(type_) for name, type_ in sorted({**scope.names, **own}.items())}
        match step.action:
            case LoopAction() | ParallelAction():
                with scope.enter_body(loop_names(step.action, ANY), leaks=isinstance(step.action, LoopAction)):
                    _walk(step.action.steps, scope, f"{address}/", found)
            case GroupAction():
                bound = tuple(Input(each.name, ANY) for each in step.action.inputs)
                _walk(step.action.steps, Scope(bound), f"{address}/", found)
            case GuidedLoopAction():
                names = (step.action.iteration_var, step.action.item_var, step.action.index_var)
                with scope.enter_body(dict.fromkeys(names, ANY)):
                    _walk(step.action.steps, scope, f"{address}/", found)
            case _:
                pass
        scope.define(step)
