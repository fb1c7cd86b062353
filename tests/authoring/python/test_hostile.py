"""Whatever an author's code returns, the result is a document or a diagnostic, never an exception."""

import math
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.authoring.native.schema import WORKFLOW
from handrail.authoring.python import objects
from handrail.authoring.python.objects import Agent, Procedure, Workflow
from handrail.authoring.python.parts import Part
from handrail.authoring.python.tree import build_document
from handrail.authoring.shapes.conform import conform
from handrail.model.diagnostics import Report
from handrail.model.source import Bundle, SourceText, plain

PARTS: list[type[Part]] = [
    found
    for found in (getattr(objects, name) for name in objects.__all__)
    if isinstance(found, type) and issubclass(found, Part)
]


def _raise(*_: object, **__: object) -> NoReturn:
    raise RuntimeError("hostile")


class Meta(type):
    __name__ = property(_raise)  # pyright: ignore[reportAssignmentType, reportIncompatibleVariableOverride]
    __mro__ = property(_raise)  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]
    __hash__ = _raise
    __eq__ = _raise
    __bool__ = _raise
    __subclasscheck__ = _raise


class Liar(metaclass=Meta):
    __class__ = property(_raise)  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]
    __getattribute__ = _raise
    __eq__ = _raise
    __hash__ = _raise
    __bool__ = _raise
    __repr__ = _raise
    __str__ = _raise


class HostileDict(dict[Any, Any]):
    items = _raise
    keys = _raise
    __iter__ = _raise
    __len__ = _raise
    __getitem__ = _raise
    __bool__ = _raise


class HostileList(list[Any]):
    __iter__ = _raise
    __len__ = _raise
    __getitem__ = _raise
    __bool__ = _raise


class HostileText(str):
    __slots__ = ()
    __str__ = _raise
    __len__ = _raise
    __hash__ = _raise
    __eq__ = _raise
    __format__ = _raise


class HostileInt(int):
    __int__ = _raise
    __index__ = _raise
    __abs__ = _raise
    __gt__ = _raise
    __eq__ = _raise
    __hash__ = _raise


class HostileFloat(float):
    __float__ = _raise
    __eq__ = _raise
    __hash__ = _raise


class HostileAgent(Agent):
    __getattribute__ = _raise


class UnreadableAgent(Agent):
    @property
    def when(self) -> NoReturn:  # pyright: ignore[reportIncompatibleVariableOverride]
        raise RuntimeError("hostile")


class ShapelessAgent(Agent):
    __dataclass_fields__ = None  # pyright: ignore[reportAssignmentType]
    TYPE = Liar()  # pyright: ignore[reportAssignmentType]


def _hostile() -> list[Any]:
    return [
        Liar(),
        Liar,
        HostileDict({"a": 1}),
        HostileList(["a"]),
        HostileText("a"),
        HostileInt(3),
        HostileFloat(0.5),
        HostileAgent.__new__(HostileAgent),
        UnreadableAgent.__new__(UnreadableAgent),
        ShapelessAgent.__new__(ShapelessAgent),
        Agent.__new__(Agent),
        Workflow.__new__(Workflow),
        type("a\nb", (), {})(),
    ]


def _bundle() -> Bundle:
    return Bundle("workflow.py", {"workflow.py": SourceText("workflow.py", "def resolve(context):\n    return W\n")})


def check_read(returned: object) -> None:
    report = Report()
    document = build_document(returned, _bundle(), report)
    if document is None:
        assert {found.code for found in report} == {"python-value"}
        assert all(found.line >= 1 and "\n" not in found.message for found in report)
    else:
        assert list(report) == []
        plain(document.root)
        conform(WORKFLOW, document.root, report)


@pytest.mark.parametrize("at", range(len(_hostile())))
def test_a_hostile_value_never_raises_wherever_it_stands(at: int) -> None:
    value = _hostile()[at]
    check_read(value)
    for returned in ({"a": value}, {"a": [value, (value,)]}, Workflow("w", steps=value), Workflow(value, steps=[])):
        check_read(returned)
    check_read(Workflow("w", steps=[], line=value))
    check_read(Procedure(value, value, [value]))


def test_a_hostile_key_never_raises() -> None:
    class Key:
        __repr__ = _raise
        __str__ = _raise
        __class__ = property(_raise)  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]

    check_read({Key(): 1, (): 2, None: 3, 4: 4})


def test_hostile_built_ins_are_read_by_their_real_contents() -> None:
    document = build_document(
        HostileDict({"a": HostileList([HostileText("x"), HostileInt(3), HostileFloat(0.5)])}), _bundle(), Report()
    )
    assert document is not None
    assert plain(document.root) == {"a": ["x", 3, 0.5]}


def test_a_part_whose_fields_cannot_be_read_is_named() -> None:
    report = Report()
    build_document(Workflow("w", steps=[UnreadableAgent.__new__(UnreadableAgent)]), _bundle(), report)
    assert [found.message for found in report] == ["steps[0] contains an UnreadableAgent whose fields cannot be read"]


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(max_size=3),
    st.complex_numbers(),
    st.dates(),
    st.sampled_from([object(), Agent, len, math, ..., NotImplemented, {1}, frozenset[int](), range(3)]),
    st.builds(iter, st.just(())),
)


def _parts(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.sampled_from(PARTS).flatmap(
        lambda part: st.fixed_dictionaries({each.name: values for each in fields(part)}).map(lambda each: part(**each))
    )


def _collections(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = st.one_of(st.text(max_size=5), st.integers(), st.none())
    return st.one_of(
        st.lists(values, max_size=4),
        st.lists(values, max_size=4).map(tuple),
        st.dictionaries(keys, values, max_size=4),
        _parts(values),
    )


ANYTHING = st.recursive(LEAVES, _collections, max_leaves=12)


@given(ANYTHING)
def test_arbitrary_values_never_raise(returned: object) -> None:
    check_read(returned)


@given(st.dictionaries(st.text(max_size=5), ANYTHING, max_size=4))
def test_arbitrary_dicts_never_raise(returned: object) -> None:
    check_read(returned)


@given(ANYTHING, ANYTHING)
def test_arbitrary_workflows_never_raise(name: Any, steps: Any) -> None:
    check_read(Workflow(name, steps=steps))


PLAIN = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**53) + 1, 2**53 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(),
    ),
    lambda values: st.one_of(st.lists(values), st.dictionaries(st.text(), values)),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), PLAIN))
def test_plain_data_comes_back_as_it_was(data: dict[str, Any]) -> None:
    report = Report()
    document = build_document(data, _bundle(), report)
    assert document is not None
    assert plain(document.root) == data


def test_endless_values_are_not_followed() -> None:
    def forever() -> Iterator[int]:
        while True:
            yield 1

    check_read({"a": forever(), "b": range(10**12)})
