"""Static checks of filters: the name, the arguments, what each works on, the fields that are named in quotes."""

from typing import TYPE_CHECKING

from handrail.language.expressions.filters import FILE_FILTER, FILTERS, FilterSpec, arrange, signature
from handrail.language.expressions.syntax import Expression, Filter, Literal
from handrail.language.expressions.typing_rules import join_types, kind_of_type
from handrail.language.expressions.unparse import unparse
from handrail.language.problems import Problem
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.types import ANY, NULL, STRING, ListType, Type

if TYPE_CHECKING:
    from handrail.language.expressions.check import Checker


def infer(checker: "Checker", expression: Filter) -> Type:
    """Check one filter and return the type of its result."""
    subject = checker.infer(expression.subject)
    given = [*expression.arguments, *(value for _, value in expression.named)]
    types = [checker.infer(value) for value in given]
    spec = FILTERS.get(expression.name)
    if spec is None:
        _unknown(checker, expression)
        return STRING if expression.name == FILE_FILTER else ANY
    slots, wrong = arrange(spec, len(expression.arguments), tuple(name for name, _ in expression.named))
    if wrong:
        message = f"`{expression.name}` {wrong}"
        _report(checker, "filter-arguments", message, expression, f"write `| {signature(expression.name)}`")
        return spec.result(subject)
    _check_subject(checker, expression, spec, subject)
    result = spec.result(subject)
    for parameter, slot in zip(spec.parameters, slots, strict=True):
        if slot is None:
            continue
        kind = kind_of_type(types[slot])
        if kind is not None and kind not in parameter.kinds:
            wanted = " or ".join(sorted(parameter.kinds))
            message = f"`{expression.name}` needs a {wanted} as '{parameter.name}', not a {kind}"
            checker.report("type-mismatch", message, given[slot])
        if parameter.name == "attribute":
            named = _check_field(checker, expression, subject, given[slot])
            result = ListType(named) if expression.name == "map" else result
    if expression.name == "default":
        return join_types([subject, types[0]])
    return result


def _check_subject(checker: "Checker", expression: Filter, spec: FilterSpec, subject: Type) -> None:
    kind = kind_of_type(subject)
    if kind is None or subject == NULL or kind in spec.accepts:
        return
    owner = unparse(expression.subject)
    works = " or ".join(sorted(spec.accepts))
    message = f"`{expression.name}` works on {works}, but `{owner}` is a {kind}"
    _report(checker, "type-mismatch", message, expression)


def _check_field(checker: "Checker", expression: Filter, subject: Type, argument: Expression) -> Type:
    if not isinstance(subject, ListType) or not isinstance(argument, Literal):
        return ANY
    owner, type_ = f"{unparse(expression.subject)}[0]", subject.item
    for name in str(argument.value).split("."):
        # The closing quote is the last character of the argument, and the field's name is before it.
        at = Literal(name, argument.start, argument.end - 1)
        type_ = checker.field(type_, name, at, owner)
        owner = f"{owner}.{name}"
    return type_


def _unknown(checker: "Checker", expression: Filter) -> None:
    if expression.name == FILE_FILTER:
        message = "`file` passes a value to a shell command; it must come last, as in `${... | file}`"
        _report(checker, "unknown-filter", message, expression)
        return
    message = f"unknown filter '{expression.name}'{did_you_mean(expression.name, FILTERS)}"
    hint = _ELSEWHERE.get(expression.name) or f"the filters are {', '.join(FILTERS)}"
    _report(checker, "unknown-filter", message, expression, hint)


def _report(checker: "Checker", code: str, message: str, at: Filter, hint: str | None = None) -> None:
    checker.problems.append(Problem(code, message, at.name_start, at.name_start + len(at.name), hint))


_ELSEWHERE = {
    "tojson": "write `| json`",
    "count": "write `| length`",
    "float": "write `| number`",
    "strip": "write `| trim`",
    "selectattr": "write `| where('field', value)`",
    "rejectattr": "write `| without('field', value)`",
    "select": "write `| where('field', value)`",
    "dictsort": "write `| items | sort('key')`",
    "regex_replace": "patterns are not supported; write `| replace('old', 'new')`",
    "d": "write `| default(...)`",
    "safe": "values are never escaped; leave it out",
    "escape": "values are never parsed again; leave it out",
    "e": "values are never parsed again; leave it out",
    "quote": "values in shell commands are passed safely; leave it out",
}
