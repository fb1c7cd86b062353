"""Finds what a plan's expressions read: which values decide its flow, and with which constants they are compared."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from handrail.engine.state.scope import parse_expression
from handrail.frozen import frozen
from handrail.language.expressions.refs import Ref, path_of
from handrail.language.expressions.syntax import (
    Attribute,
    Binary,
    Compare,
    Conditional,
    Filter,
    Item,
    Logic,
    MapDisplay,
    Name,
    Test,
    Unary,
    children,
)
from handrail.language.expressions.syntax import Expression as Syntax
from handrail.language.expressions.syntax import Literal as Constant
from handrail.language.problems import LanguageError
from handrail.language.templates.parse import parse_template, template_refs
from handrail.model.names import make_identifier
from handrail.model.parts import parts, walk_steps
from handrail.model.workflow.actions import (
    AgentLoopAction,
    CallAction,
    Each,
    GateAction,
    GroupAction,
    LoopAction,
    ParallelAction,
    Times,
    Until,
    While,
)
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.proofs import ExpectProof
from handrail.model.workflow.values import Expression, Prompt

Path = tuple[str, ...]
ITEMS = "[]"
"""The part of a path that stands for any item of a list."""
FIELD_FILTERS = frozenset({"where", "without", "map", "sum", "max", "min", "unique"})
EXACT_FILTERS = frozenset({"length", "default", "lower", "upper", "trim", "first", "last"})


@frozen
class Decider:
    """An expression that decides where a run goes, or a value that is passed on and may decide elsewhere."""

    tree: Syntax
    paths: tuple[Path, ...]
    constants: tuple[object, ...]
    passed: bool = False
    """Whether it is only passed on, to a workflow that may decide on it."""


@dataclass(slots=True)
class PlanReads:
    """Everything that a plan reads."""

    paths: set[Path] = field(default_factory=set[Path])
    """Every path as it is written."""
    deciders: list[Decider] = field(default_factory=list[Decider])
    aliases: dict[str, list[Path]] = field(default_factory=dict[str, list[Path]])
    """Names of items and of routines' inputs, with the paths that they stand for."""
    orders: set[Path] = field(default_factory=set[Path])
    """The paths that say which items of a fan-out depend on which others."""

    @property
    def deciding(self) -> set[Path]:
        """The paths whose values decide."""
        return {path for each in self.deciders for path in each.paths}

    def expand_aliases(self, path: Path, depth: int = 4) -> Iterator[Path]:
        """Yield a path, and those that it stands for if its name is an alias."""
        yield path
        for target in self.aliases.get(path[0], ()) if depth else ():
            if target[0] != path[0]:
                yield from self.expand_aliases((*target, *path[1:]), depth - 1)


def reading_of(plan: Plan) -> PlanReads:
    """Collect what a plan reads."""
    found = PlanReads()
    for _, step in walk_steps(plan.steps):
        for each in parts(step, Expression):
            found.paths.update(ref.parts for ref in _refs(each.source))
        for prompt in parts(step, Prompt):
            found.paths.update(ref.parts for ref in _prompt_refs(prompt))
        found.deciders.extend(_decider(each, step) for each in _find_deciding_expressions(step))
        if isinstance(step.action, CallAction):
            passed = (_decider(each, step) for each in parts(step.input, Expression))
            found.deciders.extend(replace(each, passed=True) for each in passed)
        _add_aliases(step, found)
        if isinstance(step.action, ParallelAction) and step.action.after is not None:
            found.orders.update(ref.parts for ref in _refs(step.action.after.source))
    return found


def _decider(expression: Expression, step: Step) -> Decider:
    tree, refs = parse_expression(expression.source)
    constants = tuple(_constants(tree))
    if isinstance(step.action, LoopAction) and isinstance(step.action.over, Each):
        # One item more than the allowed rounds makes a difference.
        constants = (*constants, step.action.max_iterations)
    return Decider(tree, tuple(dict.fromkeys((*(ref.parts for ref in refs), *_item_field_paths(tree)))), constants)


def _item_field_paths(tree: Syntax) -> Iterator[Path]:
    """Yield the fields of items that filters such as `where('severity', 'high')` read."""
    if isinstance(tree, Filter) and tree.arguments and tree.name in FIELD_FILTERS:
        subject, field_ = path_of(tree.subject), tree.arguments[0]
        if subject is not None and isinstance(field_, Constant) and isinstance(field_.value, str):
            yield (*subject, ITEMS, *field_.value.split("."))
    for each in children(tree):
        yield from _item_field_paths(each)


def deciders_of_outputs(reading: PlanReads, step: Step) -> tuple[Decider, ...]:
    """List what is decided on among the outputs of a workflow that a step calls, by their names there."""
    output, name = make_identifier(step.output or ""), make_identifier(step.name)
    found: list[Decider] = []
    for decider in reading.deciders:
        for path in decider.paths:
            own = path[1:] if output and path[0] == output else path[2:] if path[:2] == ("steps", name) else ()
            own = own[1:] if own[:1] == ("output",) else own
            if own:
                found.append(Decider(_path_tree(own), (own,), decider.constants))
    return tuple(found)


def _path_tree(path: Path) -> Syntax:
    tree: Syntax = Name(path[0])
    for part in path[1:]:
        tree = Attribute(tree, part)
    return tree


def _refs(source: str) -> tuple[Ref, ...]:
    try:
        return parse_expression(source)[1]
    except LanguageError:
        return ()


def _prompt_refs(prompt: Prompt) -> tuple[Ref, ...]:
    if prompt.syntax != "template":
        return ()
    try:
        return template_refs(parse_template(prompt.text))
    except LanguageError:
        return ()


def _find_deciding_expressions(step: Step) -> Iterator[Expression]:
    """Yield the expressions of a step that decide what follows, or whose values others may decide on."""
    if isinstance(step.when, Expression):
        yield step.when
    for proof in step.done_when:
        if isinstance(proof, ExpectProof):
            yield proof.condition
    yield from _action_expressions(step)


def _action_expressions(step: Step) -> Iterator[Expression]:
    match step.action:
        case LoopAction(over=While(condition)) | LoopAction(over=Until(condition)):
            yield condition
        case LoopAction(over=Times(count)):
            yield from parts(count, Expression)
        case LoopAction(over=Each(items)) | ParallelAction(over=Each(items)):
            yield from parts(items, Expression)
        case AgentLoopAction():
            yield from parts(step.action.exit_when, Expression)
        case GateAction():
            yield from parts(step.action.warn_when, Expression)
        case _:
            pass


def _add_aliases(step: Step, found: PlanReads) -> None:
    match step.action:
        case LoopAction(over=Each() as over) | ParallelAction(over=over):
            for each in parts(over.items, Expression):
                for ref in _refs(each.source):
                    found.aliases.setdefault(make_identifier(over.item), []).append((*ref.parts, ITEMS))
        case GroupAction(inputs=inputs):
            for named in inputs:
                for each in parts(named.value, Expression):
                    targets = found.aliases.setdefault(make_identifier(named.name), [])
                    targets.extend(ref.parts for ref in _refs(each.source))
        case _:
            pass


def _constants(tree: Syntax) -> Iterator[object]:
    if isinstance(tree, Constant):
        yield tree.value
    for each in children(tree):
        yield from _constants(each)


def atoms(tree: Syntax) -> Iterator[Syntax]:
    """Yield the smallest conditions of an expression: those that no `and`, `or` or `not` splits further."""
    match tree:
        case Logic(_, operands):
            for each in operands:
                yield from atoms(each)
        case Unary("not", operand):
            yield from atoms(operand)
        case _:
            yield tree


def is_exact(tree: Syntax) -> bool:
    """Whether the values that are tried are enough to conclude that a condition never holds."""
    match tree:
        case Filter(_, name) if name not in EXACT_FILTERS:
            return False
        case Binary() | Item() | MapDisplay() | Conditional():
            return False
        case Compare() | Test() | _:
            return all(is_exact(each) for each in children(tree))


def is_exact_source(source: str) -> bool:
    """Whether the same is true for the text of an expression."""
    try:
        return is_exact(parse_expression(source)[0])
    except LanguageError:
        return False
