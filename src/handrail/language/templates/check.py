"""Static checks of templates, and what they read."""

from collections.abc import Mapping, Sequence

from handrail.language.expressions.check import check
from handrail.language.expressions.filters import entry_type
from handrail.language.expressions.refs import Ref, refs
from handrail.language.expressions.syntax import Expression
from handrail.language.expressions.typing_rules import kind_of_type
from handrail.language.expressions.unparse import unparse
from handrail.language.problems import Problem
from handrail.language.templates.syntax import For, If, Output, Part, Template, Text
from handrail.model.workflow.types import BOOL, INT, Field, RecordType, Type

LOOP = RecordType(
    (Field("index", INT), Field("index0", INT), Field("first", BOOL), Field("last", BOOL), Field("length", INT))
)
"""The type of `loop` inside `{% for %}`."""


def check_template(template: Template, scope: Mapping[str, Type]) -> tuple[Problem, ...]:
    """Check every expression of a template against the names in scope."""
    problems: list[Problem] = []
    _check(template.parts, scope, problems)
    return tuple(problems)


def template_refs(template: Template) -> tuple[Ref, ...]:
    """List every path that a template reads from outside, without the names that its own loops define."""
    found: list[Ref] = []
    _refs(template.parts, frozenset(), found)
    return tuple(found)


def _check(parts: Sequence[Part], scope: Mapping[str, Type], problems: list[Problem]) -> None:
    for part in parts:
        match part:
            case Text():
                pass
            case Output(expression):
                problems += check(expression, scope).problems
            case If():
                for branch in part.branches:
                    problems += check(branch.condition, scope, boolean=True).problems
                    _check(branch.body, scope, problems)
                _check(part.otherwise, scope, problems)
            case For():
                _check_for(part, scope, problems)


def _check_for(part: For, scope: Mapping[str, Type], problems: list[Problem]) -> None:
    source = check(part.source, scope)
    problems += source.problems
    if kind_of_type(source.type) in ("text", "number", "boolean"):
        message = f"`for` needs a list or a map, and `{unparse(part.source)}` is neither"
        problems.append(Problem("type-mismatch", message, part.source.start, part.source.end))
    _check(part.body, {**scope, part.name: entry_type(source.type), "loop": LOOP}, problems)
    _check(part.otherwise, scope, problems)


def _refs(parts: Sequence[Part], bound: frozenset[str], found: list[Ref]) -> None:
    for part in parts:
        match part:
            case Text():
                pass
            case Output(expression):
                _collect_outer_refs(expression, bound, found)
            case If():
                for branch in part.branches:
                    _collect_outer_refs(branch.condition, bound, found)
                    _refs(branch.body, bound, found)
                _refs(part.otherwise, bound, found)
            case For():
                _collect_outer_refs(part.source, bound, found)
                _refs(part.body, bound | {part.name, "loop"}, found)
                _refs(part.otherwise, bound, found)


def _collect_outer_refs(expression: Expression, bound: frozenset[str], found: list[Ref]) -> None:
    found += [ref for ref in refs(expression) if ref.parts[0] not in bound]
