"""Lowers the texts of a native workflow: values with holes, conditions, expressions and shell commands."""

from collections.abc import Iterable, Iterator

from handrail.compiler.native.context import Lowering, text_of
from handrail.language.expressions.check import check
from handrail.language.expressions.parser import parse
from handrail.language.expressions.refs import Ref, refs
from handrail.language.expressions.syntax import Expression as Syntax
from handrail.language.expressions.unparse import unparse
from handrail.language.problems import LanguageError
from handrail.language.shell.scan import compile_command
from handrail.language.templates.interpolate import Placeholder, parse_condition, parse_text
from handrail.language.templates.parse import templates_in_value
from handrail.model.names import make_identifier
from handrail.model.source import Mapping, Node, Scalar, Sequence
from handrail.model.workflow.types import ANY, STRING, Type
from handrail.model.workflow.values import (
    Command,
    Constant,
    Expression,
    ListOfValues,
    MapOfValues,
    NamedValue,
    ShellBinding,
    TextWithHoles,
    Value,
)


def lower_value(work: Lowering, node: Node) -> Value:
    """Lower any value; one without `${...}` at any depth is a constant."""
    match node:
        case Scalar(value=str()):
            return _text(work, node)[0]
        case Scalar():
            return Constant(node.value)
        case Sequence():
            items = tuple(lower_value(work, item) for item in node.items)
            if all(isinstance(item, Constant) for item in items):
                return Constant([item.value for item in items if isinstance(item, Constant)])
            return ListOfValues(items)
        case Mapping():
            entries = tuple(NamedValue(entry.name, lower_value(work, entry.value)) for entry in node)
            if all(isinstance(entry.value, Constant) for entry in entries):
                return Constant({each.name: each.value.value for each in entries if isinstance(each.value, Constant)})
            return MapOfValues(tuple(sorted(entries, key=lambda each: each.name)))


def lower_optional(work: Lowering, node: Node | None) -> Value | None:
    """Lower a value that may be absent."""
    return None if node is None else lower_value(work, node)


def lower_inputs(work: Lowering, node: Node | None) -> tuple[NamedValue, ...]:
    """Lower a step's `input` map, in which the order of names has no meaning."""
    if not isinstance(node, Mapping):
        return ()
    pairs = (NamedValue(make_identifier(entry.name), lower_value(work, entry.value)) for entry in node)
    return tuple(sorted(pairs, key=lambda each: each.name))


def is_own_value(work: Lowering, value: Value) -> bool:
    """Whether a value is the workflow's own: a constant, or built from constants only."""
    return all(work.scope.is_own(ref.parts) for ref in refs_in(value))


def refs_in(value: Value) -> Iterator[Ref]:
    """Find the names that a value reads, at any depth."""
    match value:
        case Constant():
            return
        case Expression(source):
            yield from refs(parse(source))
        case TextWithHoles(parts):
            yield from (ref for part in parts if isinstance(part, Expression) for ref in refs_in(part))
        case ListOfValues(items):
            yield from (ref for item in items for ref in refs_in(item))
        case MapOfValues(entries):
            yield from (ref for entry in entries for ref in refs_in(entry.value))


def find_own_names(work: Lowering, values: Iterable[NamedValue]) -> frozenset[str]:
    """Return the names whose values are the workflow's own."""
    return frozenset(make_identifier(each.name) for each in values if is_own_value(work, each.value))


def value_type(work: Lowering, node: Node) -> Type:
    """Infer what is known about a value's type, without reporting anything."""
    if isinstance(node, Scalar) and isinstance(node.value, str):
        try:
            parsed = parse_text(node.value)
        except LanguageError:
            return ANY
        return STRING if parsed.sole_expression is None else check(parsed.sole_expression, work.scope.names).type
    return ANY


def _text(work: Lowering, scalar: Scalar) -> tuple[Value, Type]:
    text = str(scalar.value)
    work.explain(templates_in_value(text, work.scope.names), scalar, warn=True)
    if "${" not in text:
        return Constant(text), STRING
    try:
        parsed = parse_text(text)
    except LanguageError as error:
        work.explain([error.problem], scalar)
        return Constant(text), ANY
    work.explain(parsed.warnings, scalar, warn=True)
    if parsed.sole_expression is not None:
        type_ = _check_expression(work, parsed.sole_expression, scalar)
        return Expression(unparse(parsed.sole_expression)), type_
    parts: list[str | Expression] = []
    for part in parsed.parts:
        if isinstance(part, Placeholder):
            _check_expression(work, part.expr, scalar)
            parts.append(Expression(unparse(part.expr)))
        else:
            parts.append(part)
    if all(isinstance(part, str) for part in parts):
        return Constant("".join(part for part in parts if isinstance(part, str))), STRING
    return TextWithHoles(tuple(parts)), STRING


def _check_expression(work: Lowering, expression: Syntax, scalar: Scalar, *, boolean: bool = False) -> Type:
    found = check(expression, work.scope.names, boolean=boolean)
    work.explain(found.problems, scalar)
    return found.type


def lower_condition(work: Lowering, node: Node | None, *, boolean: bool = True) -> Expression | None:
    """Lower a condition such as `when`, written bare or in one of the older forms."""
    return None if node is None else lower_expression(work, node, boolean=boolean)[0]


def lower_expression(work: Lowering, node: Node, *, boolean: bool = False) -> tuple[Expression, Type]:
    """Lower an expression, and return what is known about its type."""
    if isinstance(node, Scalar) and isinstance(node.value, bool):
        return Expression("true" if node.value else "false"), ANY
    text = text_of(node)
    if text is None or not isinstance(node, Scalar):
        return Expression("none"), ANY
    try:
        parsed = parse_condition(text)
    except LanguageError as error:
        work.explain([error.problem], node)
        return Expression("none"), ANY
    type_ = _check_expression(work, parsed.expr, node, boolean=boolean)
    return Expression(unparse(parsed.expr)), type_


def lower_command(work: Lowering, node: Node) -> Command:
    """Lower a shell command: values are passed in environment variables."""
    text = text_of(node)
    if text is None or not isinstance(node, Scalar):
        return Command("")
    work.explain(templates_in_value(text, work.scope.names), node, warn=True)
    if "$" not in text:
        return Command(text)
    try:
        compiled = compile_command(text, work.scope.names.__contains__, work.scope.names)
    except LanguageError as error:
        work.explain([error.problem], node)
        return Command(text)
    work.explain(compiled.problems, node)
    work.explain(compiled.warnings, node, warn=True)
    bindings: list[ShellBinding] = []
    for each in compiled.bindings:
        _check_expression(work, each.expr, node)
        bindings.append(ShellBinding(each.variable, Expression(unparse(each.expr)), each.as_file))
    return Command(compiled.script, tuple(bindings))


def lower_env(work: Lowering, node: Node | None) -> tuple[NamedValue, ...]:
    """Lower an `env` map."""
    if not isinstance(node, Mapping):
        return ()
    return tuple(sorted((NamedValue(e.name, lower_value(work, e.value)) for e in node), key=lambda each: each.name))
