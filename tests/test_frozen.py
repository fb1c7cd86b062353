"""Frozen values are dataclasses in everything but the time that their declaration takes."""

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, is_dataclass, replace
from typing import Any

import pytest

from handrail.frozen import frozen


@frozen
class Point:
    x: int
    y: int = 2
    tags: tuple[str, ...] = field(default_factory=tuple)
    seen: int = field(default=0, compare=False, repr=False)

    @property
    def sum(self) -> int:
        return self.x + self.y


@dataclass(frozen=True, slots=True)
class Usual:
    x: int
    y: int = 2
    tags: tuple[str, ...] = field(default_factory=tuple)
    seen: int = field(default=0, compare=False, repr=False)


@frozen(kw_only=True)
class Named(Point):
    name: str
    length: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", len(self.name))


@frozen(eq=False)
class Single:
    x: int


@frozen
class Counted:
    count: int = field(default=3, init=False)
    items: list[int] = field(default_factory=list[int], init=False)


@frozen
class Nothing:
    pass


@pytest.mark.parametrize("kind", [Point, Usual])
def test_it_is_what_a_frozen_dataclass_is(kind: Callable[..., Any]) -> None:
    one = kind(1)
    assert (one.x, one.y, one.tags) == (1, 2, ())
    assert repr(one).partition("(")[2] == "x=1, y=2, tags=())"
    assert one == kind(1, seen=5)
    assert hash(one) == hash(kind(1, seen=5))
    assert one != kind(2)
    assert one != (1, 2, ())
    assert replace(one, y=3) == kind(1, 3)
    assert asdict(one) == {"x": 1, "y": 2, "tags": (), "seen": 0}
    assert copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one
    assert is_dataclass(one)
    assert [each.name for each in fields(one)] == ["x", "y", "tags", "seen"]
    match one:
        case Point(x, y) | Usual(x, y):
            assert (x, y) == (1, 2)
        case _:
            pytest.fail("no match")


@pytest.mark.parametrize("kind", [Point, Usual])
def test_it_refuses_what_a_frozen_dataclass_refuses(kind: Callable[..., Any]) -> None:
    one = kind(1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        one.x = 2
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del one.x
    # The usual ones of Python 3.11 stumble over their slots here.
    with pytest.raises((FrozenInstanceError, TypeError)):
        one.other = 2
    assert not hasattr(one, "__dict__")
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'x'"):
        kind()
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        kind(1, z=1)


def test_fields_are_inherited_and_those_by_keyword_come_last() -> None:
    one = Named(1, 5, name="abc")
    assert (one.sum, one.length) == (6, 3)
    assert one == Named(1, 5, name="abc")
    assert one != Point(1, 5)
    with pytest.raises(TypeError):
        Named(1, 5, ("a",), 0, "abc")  # pyright: ignore[reportCallIssue] - what is refused


def test_without_comparing_each_equals_itself_alone() -> None:
    one = Single(1)
    assert one != Single(1)
    assert len({one, Single(1)}) == 2


def test_a_value_without_fields_equals_every_other_of_its_kind() -> None:
    assert Nothing() == Nothing()
    assert {Nothing(), Nothing()} == {Nothing()}
    assert repr(Nothing()) == "Nothing()"


def test_fields_that_nobody_gives_have_their_defaults_and_share_none() -> None:
    one, other = Counted(), Counted()
    one.items.append(1)
    assert (one.count, other.items) == (3, [])
    with pytest.raises(TypeError):
        Counted(4)  # pyright: ignore[reportCallIssue] - what is refused


def test_a_mistake_is_told_with_the_name_of_the_class() -> None:
    for _ in range(2):
        with pytest.raises(TypeError, match=r"^Single\.__init__\(\) missing 1 required positional argument: 'x'$"):
            Single()  # pyright: ignore[reportCallIssue] - what is refused


def test_a_class_that_derives_is_declared_in_the_same_way() -> None:
    with pytest.raises(TypeError, match="cannot inherit frozen dataclass from a non-frozen one"):

        @dataclass(frozen=True)
        class Other(Point):  # pyright: ignore[reportUnusedClass]
            pass
