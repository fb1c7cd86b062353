"""Renders a template with data to text. Values are inserted as they are and never parsed again."""

from collections.abc import Mapping, Sequence

from handrail.frozen import frozen
from handrail.language.expressions.evaluate import boolean, evaluate_within
from handrail.language.expressions.filters_data import items
from handrail.language.expressions.syntax import Expression
from handrail.language.templates.syntax import For, If, Output, Part, Template, Text
from handrail.language.values import Budget, Limits, Value, describe_kind, plain, text_of


class _Start:
    start = 0
    end = 0


@frozen
class OutputValue:
    """A value in place of an output of the template."""

    output: Output
    value: Value
    text: str


def render(template: Template, scope: Mapping[str, object], limits: Limits = Limits()) -> str:  # noqa: B008 - frozen
    """Render a template; fuel and the size of the output are shared by all of it."""
    parts = render_parts(template, scope, limits)
    return "".join(part if isinstance(part, str) else part.text for part in parts)


def render_parts(
    template: Template,
    scope: Mapping[str, object],
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> list[str | OutputValue]:
    """Render a template, with the author's text and the values separate."""
    writer = _Writer(Budget(limits, _Start()))
    writer.write(template.parts, scope)
    return writer.out


class _Writer:
    def __init__(self, budget: Budget) -> None:
        self.out: list[str | OutputValue] = []
        self._budget = budget
        self._size = 0

    def write(self, parts: Sequence[Part], scope: Mapping[str, object]) -> None:
        for part in parts:
            match part:
                case Text(text):
                    self._count(text)
                    self.out.append(text)
                case Output(expression):
                    value = evaluate_within(expression, scope, self._budget)
                    text = text_of(value, self._budget)
                    self._count(text)
                    self.out.append(OutputValue(part, value, text))
                case If():
                    self._write_if(part, scope)
                case For():
                    self._write_for(part, scope)

    def _count(self, text: str) -> None:
        self._size += len(text)
        self._budget.spend()
        if self._size > self._budget.limits.text:
            self._budget.spend_text(self._size)

    def _write_if(self, part: If, scope: Mapping[str, object]) -> None:
        for branch in part.branches:
            if boolean(branch.condition, scope, self._budget):
                self.write(branch.body, scope)
                return
        self.write(part.otherwise, scope)

    def _write_for(self, part: For, scope: Mapping[str, object]) -> None:
        source = self._list(part.source, scope)
        if not source:
            self.write(part.otherwise, scope)
            return
        inner = dict(scope)
        self._budget.spend(len(inner) // 8)
        for index, item in enumerate(source):
            self._budget.spend()
            inner[part.name] = plain(item, self._budget)
            inner["loop"] = {
                "index": index + 1,
                "index0": index,
                "first": index == 0,
                "last": index == len(source) - 1,
                "length": len(source),
            }
            self.write(part.body, inner)

    def _list(self, expression: Expression, scope: Mapping[str, object]) -> Sequence[Value]:
        value = evaluate_within(expression, scope, self._budget)
        self._budget.place = expression
        if isinstance(value, dict):
            value = items(value, (), self._budget)
        if not isinstance(value, list | tuple):
            hint = "`| lines` and `| split(',')` turn text into a list" if isinstance(value, str) else None
            self._budget.fail("type-mismatch", f"`for` needs a list or a map, not {describe_kind(value)}", hint)
        return value
