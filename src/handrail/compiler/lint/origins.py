"""Whether an agent or an issue wrote a value, as far as the plan shows."""

from handrail.compiler.constant import find_refs
from handrail.compiler.lint.context import LintContext
from handrail.compiler.lint.names_read import Path, paths_in
from handrail.compiler.lint.walk import Visit
from handrail.compiler.record_types import ISSUE, result_type, step_type
from handrail.language.expressions.parser import parse
from handrail.language.expressions.syntax import Binary, Compare, Filter, Logic, Test, Unary
from handrail.model.names import make_identifier
from handrail.model.workflow.actions import Each
from handrail.model.workflow.plan import Step
from handrail.model.workflow.types import ANY, ChoiceType, ListType, MapType, RecordType, ScalarType, Type
from handrail.model.workflow.values import Expression, Value

AGENTS = frozenset({"agent", "agent-loop", "parallel-agents", "workflow", "use", "guided"})
"""Kinds of steps whose result is an agent's text."""
HANDRAIL_NAMES = frozenset(
    {"status", "exit_code", "attempts", "cost", "duration", "branch", "commit", "rounds", "stopped", "key"}
)
"""Fields of records that Handrail writes itself."""
SAFE_TYPES = frozenset({"int", "number", "bool", "slug", "null"})


class Origins:
    """Finds who wrote the content of a value."""

    def __init__(self, context: LintContext) -> None:
        self._outputs: dict[str, Step] = {}
        self._steps: dict[str, Step] = {}
        for visit in context.visits:
            self._steps[make_identifier(visit.step.name)] = visit.step
            if visit.step.output is not None:
                self._outputs[make_identifier(visit.step.output)] = visit.step
        self._issues = {make_identifier(each.name) for each in context.plan.inputs if each.type == ISSUE} | {"issue"}

    def writer(self, visit: Visit, value: Value) -> str | None:
        """Name the agent or issue whose text a value holds; None where it holds none, or only words of a fixed form."""
        if isinstance(value, Expression) and _is_textless(value.source):
            return None
        for path in paths_in(value):
            found = self._origin(visit, path, depth=0)
            if found is not None and not _is_tame(found[1]):
                return found[0]
        return None

    def _origin(self, visit: Visit, path: Path, depth: int) -> tuple[str, Type] | None:
        root, rest = path[0], path[1:]
        if root == "input" and rest:
            root, rest = rest[0], rest[1:]
        if root in self._issues:
            return "the issue", _follow(ISSUE, rest)
        if root == "steps" and rest:
            step = self._steps.get(make_identifier(rest[0]))
            if step is None or (len(rest) > 1 and rest[1] in HANDRAIL_NAMES):
                return None
            return _agent_origin(step, step_type(step), rest[1:])
        if root in self._outputs:
            step = self._outputs[root]
            return _agent_origin(step, result_type(step), rest)
        return self._local(visit, (root, *rest), depth) if depth < 8 else None

    def _local(self, visit: Visit, path: Path, depth: int) -> tuple[str, Type] | None:
        """Follow a name that is known only in this step or in the loop around it."""
        for given in visit.step.input:
            if given.name == path[0]:
                return self._follow_value(visit, given.value, path[1:], depth)
        for around in visit.ancestors():
            over = getattr(around.step.action, "over", None)
            if isinstance(over, Each) and make_identifier(over.item) == path[0]:
                found = self._follow_value(around, over.items, (), depth)
                return None if found is None else (found[0], _follow(_item(found[1]), path[1:]))
        return None

    def _follow_value(self, visit: Visit, value: Value, rest: Path, depth: int) -> tuple[str, Type] | None:
        whole = (find_refs(value.source) or ()) if isinstance(value, Expression) else ()
        if len(whole) == 1:
            return self._origin(visit, (*whole[0].parts, *rest), depth + 1)
        parts = (self._origin(visit, path, depth + 1) for path in paths_in(value))
        found = next((each for each in parts if each is not None), None)
        return None if found is None else (found[0], ANY)


def _agent_origin(step: Step, type_: Type, rest: Path) -> tuple[str, Type] | None:
    return (f"step '{step.name}'", _follow(type_, rest)) if step.action.kind in AGENTS else None


def _follow(type_: Type, path: Path) -> Type:
    for name in path:
        field = type_.field(name) if isinstance(type_, RecordType) else None
        type_ = field.type if field is not None else type_.value if isinstance(type_, MapType) else ANY
    return type_


def _item(type_: Type) -> Type:
    return type_.item if isinstance(type_, ListType) else ANY


def _is_textless(source: str) -> bool:
    """Whether an expression yields a number or a boolean, whatever it reads."""
    if " " not in source:
        return False
    match parse(source):
        case Filter(_, name):
            return name in ("length", "int", "number", "abs", "round", "sum")
        case Compare() | Logic() | Test() | Unary():
            return True
        case Binary(operator):
            return operator != "~"
        case _:
            return False


def _is_tame(type_: Type) -> bool:
    return isinstance(type_, ChoiceType) or (isinstance(type_, ScalarType) and type_.kind in SAFE_TYPES)
