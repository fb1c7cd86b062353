"""Frozen dataclasses with slots, of which a program can declare hundreds and still start fast.

For each class, `dataclass(frozen=True, slots=True)` of the standard library compiles six methods when the class is
declared: half a millisecond of CPU, and `handrail run` declares 440 classes. Here the methods that are alike are
shared, and the standard library generates `__init__` when the first instance is created, which for most classes is
never. With plain dataclasses, `handrail run` takes 0.81 s of CPU instead of 0.61 s, and `handrail validate` 0.35 s
instead of 0.22 s (medians, Python 3.11); attrs takes longer still. A step of a run costs the same with each of them.
See docs/decisions/0006-speed-by-public-means.md.

To `fields`, `replace`, `asdict`, `match`, `copy`, `pickle` and type checkers these are frozen dataclasses. One thing
differs: a class that derives from one of them must be declared with `@frozen` too, since the standard library does not
recognize them as frozen and refuses to mix the two. What authors of workflows derive from is a plain dataclass.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, field, fields
from operator import attrgetter
from typing import Any, NoReturn, TypeVar, cast, dataclass_transform, overload

T = TypeVar("T")


@overload
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T], /) -> type[T]: ...


@overload
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(*, kw_only: bool = False, eq: bool = True) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(
    cls: type[T] | None = None, /, *, kw_only: bool = False, eq: bool = True
) -> type[T] | Callable[[type[T]], type[T]]:
    """Make a class a frozen dataclass with slots; without `eq`, instances are compared by identity."""

    def decorate(declared: type[T]) -> type[T]:
        return _freeze(declared, kw_only=kw_only, eq=eq)

    return decorate if cls is None else decorate(cls)


def _freeze(declared: type[T], *, kw_only: bool, eq: bool) -> type[T]:
    # The standard library replaces a missing docstring with the signature, which is slow to compute.
    declared.__doc__ = declared.__doc__ or declared.__name__
    cls = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)(declared)
    methods: dict[str, Any] = {"__init__": _late_init(cls), **_SHARED, **(_comparison(cls) if eq else {})}
    for name, method in methods.items():
        if name not in declared.__dict__:
            setattr(cls, name, method)
    return cls


def _late_init(cls: Any) -> Callable[..., None]:
    """Return an `__init__` that replaces itself with the real one when it is first called."""

    def __init__(self: object, *args: object, **named: object) -> None:  # noqa: N807 - what it becomes
        cls.__init__ = _write_init(cls)
        cls.__init__(self, *args, **named)

    return __init__


def _write_init(cls: Any) -> Callable[..., None]:
    """Let the standard library generate `__init__`, for a class with the same fields."""
    names = {"__doc__": cls.__doc__, "__qualname__": cls.__qualname__}
    if hasattr(cls, "__post_init__"):
        names["__post_init__"] = cls.__post_init__
    alike = dataclasses.make_dataclass(
        cls.__name__,
        [(each.name, each.type, _copy_for_init(each)) for each in fields(cls)],
        namespace=names,
        repr=False,
        eq=False,
        match_args=False,
        frozen=True,
        slots=True,
    )
    return cast("Callable[..., None]", cast("Any", alike).__init__)


def _copy_for_init(each: "Field[Any]") -> Any:
    if each.default_factory is MISSING:
        return field(default=each.default, init=each.init, kw_only=each.kw_only)
    return field(default_factory=each.default_factory, init=each.init, kw_only=each.kw_only)


def _comparison(cls: Any) -> dict[str, Any]:
    names = [each.name for each in fields(cls) if each.compare]
    key: Callable[[object], object] = attrgetter(*names) if names else lambda _: ()

    def __eq__(self: object, other: object) -> bool:  # noqa: N807
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: object) -> int:  # noqa: N807
        return hash(key(self))

    return {"__eq__": __eq__, "__hash__": __hash__}


def _repr(self: Any) -> str:
    shown = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{self.__class__.__qualname__}({shown})"


def _get_state(self: Any) -> list[object]:
    return [getattr(self, each.name) for each in fields(self)]


def _set_state(self: Any, state: list[object]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


def _refuse_to_set(_self: object, name: str, _value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_self: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


_SHARED = {
    "__repr__": _repr,
    "__getstate__": _get_state,
    "__setstate__": _set_state,
    "__setattr__": _refuse_to_set,
    "__delattr__": _refuse_to_delete,
}
