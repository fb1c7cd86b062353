"""Attempts to break out of the language or to make it run without end. Each is refused or ends within its budget."""

import copy
from typing import NoReturn

import pytest

from handrail.language.expressions.evaluate import evaluate
from handrail.language.expressions.parser import parse
from handrail.language.problems import EvaluationError, LanguageError
from handrail.language.templates.parse import parse_template, render
from handrail.language.values import Limits
from handrail.model.codes import CODES


class Trap:
    """A Python object that must never be touched."""

    @property
    def secret(self) -> NoReturn:
        raise AssertionError("a property was read")

    def __getitem__(self, key: object) -> NoReturn:
        raise AssertionError("an item was read")

    def __str__(self) -> NoReturn:
        raise AssertionError("it was turned into text")

    def __eq__(self, other: object) -> NoReturn:
        raise AssertionError("it was compared")

    def __hash__(self) -> int:
        return 1

    def __iter__(self) -> NoReturn:
        raise AssertionError("it was gone through")

    def __len__(self) -> NoReturn:
        raise AssertionError("it was measured")


class SlyText(str):
    """A text with an opinion."""

    __slots__ = ()

    def upper(self) -> NoReturn:
        raise AssertionError("a method was called")


class SlyMap(dict[str, object]):
    """A map that answers for keys it does not have."""

    def __missing__(self, key: str) -> NoReturn:
        raise AssertionError("a missing key was made up")


def _nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value, value]
    return value


def _deep(levels: int) -> object:
    value: object = []
    for _ in range(levels):
        value = [value]
    return value


CYCLE: list[object] = []
CYCLE.append(CYCLE)

SCOPE: dict[str, object] = {
    "trap": Trap(),
    "sly": SlyText("a"),
    "slymap": SlyMap(a=1),
    "fn": len,
    "cls": dict,
    "inside": {"trap": Trap(), "list": [Trap(), Trap()]},
    "text": "x" * 1_000_000,
    "lines": "\n" * 1_000_000,
    "numbers": list(range(100_000)),
    "rows": [{"id": number % 7, "text": "y" * 1000} for number in range(1000)],
    "nested": _nested(60),
    "other": _nested(60),
    "deep": _deep(5000),
    "deeper": _deep(5000),
    "cycle": CYCLE,
    "huge": 10**6000,
    "keys": {1: "a", None: "b"},
    "inf": float("inf"),
}

READING = [
    "''.__class__",
    "''.__class__.__mro__[1].__subclasses__()",
    "x.__init__.__globals__",
    "x._private",
    "''.format(1)",
    "'{0.__class__}'.format(x)",
    "().__class__",
    "[].append(1)",
    "x.pop()",
    "open('/etc/passwd')",
    "__import__('os')",
    "range(1000000000)",
    "9 ** 9 ** 9",
    "2 ** 1000000",
    "lambda: 1",
    "(lambda x: x)(1)",
    "[x for x in y]",
    "{x for x in y}",
    "(x := 5)",
    "x[0:10]",
    "x[::2]",
    "await x",
    "f'{x}'",
    "x if y",
    "x; y",
    "x = y",
    "import os",
    "(" * 5000,
    "not " * 2500,
    "-" * 10_000,
    "[" * 5000,
    "a" + ".b" * 4000,
    "x" + "|f" * 4000,
    "'a'" + "~'a'" * 2000,
    "a" * 10_001,
    "9" * 5000,
    "1e99999",
    "'" + "\\",
    "a<b<c",
    "\x00",
    "'\\ud800'",
    "x.\N{FULLWIDTH LOW LINE}class",
]

EVALUATING = [
    "trap",
    "trap.secret",
    "trap['secret']",
    "trap ~ ''",
    "trap == 1",
    "[trap]",
    "fn",
    "cls",
    "sly",
    "sly | upper",
    "slymap.b",
    "inside.trap.secret",
    "inside | json",
    "inside ~ ''",
    "inside.list | first",
    "inside.list | map('secret')",
    "inside.list | sort",
    "inside.list | unique",
    "inside.list | join",
    "1 in inside.list",
    "inside.list == inside.list",
    "inside.list | where('secret', 1)",
    "inside.list | sum",
    "inside.list | max",
    "'a' * 1000000000",
    "[1] * 100000000",
    "[1] + [2]",
    "text ~ text",
    "text | replace('x', 'yyyyyyyyyy')",
    "text | replace('', 'y')",
    "lines | indent(100)",
    "lines | lines",
    "lines | split('\\n')",
    "text | split('')",
    "text | list",
    "numbers | join(text)",
    "rows | join(text, 'id')",
    "[text, text, text] | json",
    "[text, text, text] | string",
    "nested | json",
    "nested ~ ''",
    "nested == other",
    "nested in [other]",
    "deep == deeper",
    "deep | json",
    "cycle | json",
    "cycle == [cycle]",
    "huge",
    "huge + 1",
    "huge ~ ''",
    "9007199254740992 * 9007199254740992 * 9007199254740992",
    "1e300 * 1e300",
    "1e300 | int",
    "1e300 | round",
    "inf - inf",
    "inf | int",
    "text | int",
    "1 / 0",
    "1 % 0",
    "1 | round(1000000)",
    "'a' | indent(1000000000)",
    "'a' | truncate(10000000000)",
    "keys | json",
    "text | truncate(5, text) ~ text ~ text",
    "missing",
]

TEMPLATES = [
    "{% for a in numbers %}{% for b in numbers %}{% for c in numbers %}{% endfor %}{% endfor %}{% endfor %}",
    "{% for a in numbers %}{% for b in numbers %}x{% endfor %}{% endfor %}",
    "{% for a in rows %}{{ text }}{% endfor %}",
    "{% for a in rows %}{% for b in rows %}{{ a.text }}{% endfor %}{% endfor %}",
    "{% for a in [[1,1]] %}" * 20 + "{{ a }}" + "{% endfor %}" * 20 + "{{ nested }}",
    "{% for a in numbers %}{{ rows | sort('text') | length }}{% endfor %}",
    "{% for a in numbers %}{% if numbers == numbers %}{% endif %}{% endfor %}",
    "{% for a in inside.list %}{{ a }}{% endfor %}",
    "{% for a in trap %}{% endfor %}",
    "{% for a in text %}{% endfor %}",
    "{% if trap %}{% endif %}",
]

READING_TEMPLATES = [
    "{% if true %}" * 50_000,
    "{{ " * 100_000,
    "{% for loop in x %}{% endfor %}",
    "{% for __class__ in x %}{% endfor %}",
    "{% import 'os' as os %}",
    "{% include '/etc/passwd' %}",
    "{% set x = 1 %}",
    "{% for x in x recursive %}{{ loop(x) }}{% endfor %}",
    "{{ cycler('a') }}",
    "{{ self.__init__ }}",
    "{{ x|attr('__class__')() }}",
    "{#" * 100_000,
]


@pytest.mark.parametrize("text", READING, ids=lambda text: text[:30])
def test_an_attack_on_the_parser_is_refused(text: str) -> None:
    with pytest.raises(LanguageError) as caught:
        parse(text)
    assert caught.value.problem.code in CODES
    assert len(caught.value.problem.message) < 300


@pytest.mark.parametrize("text", EVALUATING, ids=lambda text: text[:30])
def test_an_attack_on_the_evaluator_is_refused_within_its_budget(text: str) -> None:
    expression = parse(text)
    with pytest.raises(EvaluationError) as caught:
        evaluate(expression, SCOPE)
    assert caught.value.problem.code in CODES
    assert len(caught.value.problem.message) < 300


@pytest.mark.parametrize("text", TEMPLATES, ids=lambda text: text[:30])
def test_an_attack_by_a_template_is_refused_within_its_budget(text: str) -> None:
    template = parse_template(text)
    with pytest.raises(EvaluationError) as caught:
        render(template, SCOPE)
    assert caught.value.problem.code in CODES


@pytest.mark.parametrize("text", READING_TEMPLATES, ids=lambda text: text[:30])
def test_an_attack_on_the_template_parser_is_refused(text: str) -> None:
    with pytest.raises(LanguageError) as caught:
        parse_template(text)
    assert caught.value.problem.code in CODES


def test_honest_work_on_large_data_fits_the_budget() -> None:
    assert evaluate(parse("numbers | sort | reverse | sum"), SCOPE) == 4_999_950_000
    assert evaluate(parse("rows | map('text') | unique"), SCOPE) == ["y" * 1000]
    assert evaluate(parse("text | upper | length"), SCOPE) == 1_000_000


def test_there_are_no_regular_expressions_to_blow_up() -> None:
    scope: dict[str, object] = {"text": "a" * 50_000 + "b"}
    assert evaluate(parse("text | replace('(a+)+$', 'x') == text"), scope) is True


def test_data_is_the_same_after_every_filter() -> None:
    scope: dict[str, object] = {"m": {"b": [3, 1, 2], "a": {"z": None}}}
    before = copy.deepcopy(scope)
    for text in ("m.b | sort", "m.b | reverse", "m | items", "m | values | first", "m | json", "m.a.z | default([])"):
        evaluate(parse(text), scope)
    assert scope == before


def test_the_budget_is_shared_by_the_whole_template() -> None:
    template = parse_template("{{ a }}" * 100)
    assert render(template, {"a": 1}, Limits(fuel=1000)) == "1" * 100
    with pytest.raises(EvaluationError, match="more than 100 operations"):
        render(template, {"a": 1}, Limits(fuel=100))


def test_a_value_from_outside_is_never_read_as_an_expression() -> None:
    hostile = "{{ secret }} ${secret} {% for x in y %}"
    assert evaluate(parse("a ~ b"), {"a": hostile, "b": hostile}) == hostile * 2
