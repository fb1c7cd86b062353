"""Frozen dataclasses with slots, of which a program can declare hundreds and start fast.

A dataclass writes and compiles six methods when it is declared: a millisecond each time, for texts that are all alike.
These share what is alike, and compile `__init__` when the first of a kind is made, which most never are. To `fields`,
`replace`, `asdict`, `match` and type checkers they are dataclasses.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, field, fields
from operator import attrgetter
from typing import Any, NoReturn, TypeVar, cast, dataclass_transform, overload

T = TypeVar("T")
_SET = object.__setattr__
_PARAMETERS = "__dataclass_params__"


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
    """Make a class a frozen dataclass with slots; without `eq` each is equal to itself alone."""

    def made(given: type[T]) -> type[T]:
        return _made(given, kw_only=kw_only, eq=eq)

    return made if cls is None else made(cls)


def _made(given: type[T], *, kw_only: bool, eq: bool) -> type[T]:
    # A class without words gets its signature for them, which takes long to find out.
    given.__doc__ = given.__doc__ or given.__name__
    # Like can inherit from like alone. Saying so only where it must be known spares the others two methods.
    heir = any(getattr(each, _PARAMETERS, None) for each in given.__mro__[1:])
    cls = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only, frozen=heir)(given)
    getattr(cls, _PARAMETERS).frozen = True
    methods: dict[str, Any] = {
        "__init__": _late_init(cls),
        "__repr__": _repr,
        "__getstate__": _getstate,
        "__setstate__": _setstate,
        "__setattr__": _refuse_set,
        "__delattr__": _refuse_delete,
        **(_comparing(cls) if eq else {}),
    }
    for name, method in methods.items():
        if name not in given.__dict__:
            setattr(cls, name, method)
    return cls


def _late_init(cls: type) -> Callable[..., None]:
    def __init__(self: object, *args: object, **named: object) -> None:  # noqa: N807 - what it becomes
        init = _init(cls)
        cast("Any", cls).__init__ = init
        init(self, *args, **named)

    return __init__


def _init(cls: Any) -> Callable[..., None]:
    """Write an `__init__`: parameters in order, those by keyword last."""
    known: dict[str, Any] = {"_MISSING": MISSING}
    parameters, named, body = list[str](), list[str](), list[str]()
    for each in fields(cls):
        default = _default(each, known)
        if each.init:
            (named if each.kw_only else parameters).append(f"{each.name}{default and f'={default}'}")
        value = _value(each)
        if value:
            # A slot that is set by itself need not be looked for by its name.
            known[f"_set_{each.name}"] = getattr(cls, each.name).__set__
            body.append(f" _set_{each.name}(self, {value})")
    if hasattr(cls, "__post_init__"):
        body.append(" self.__post_init__()")
    told = ", ".join(["self", *parameters, *(["*", *named] if named else [])])
    exec(f"def __init__({told}):\n" + ("\n".join(body) or " pass"), known)  # noqa: S102 - made of names alone
    init = known["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return cast("Callable[..., None]", init)


def _default(each: "Field[Any]", known: dict[str, Any]) -> str:
    if each.default_factory is not MISSING:
        known[f"_make_{each.name}"] = each.default_factory
        return "_MISSING"
    if each.default is not MISSING:
        known[f"_default_{each.name}"] = each.default
        return f"_default_{each.name}"
    return ""


def _value(each: "Field[Any]") -> str:
    if each.default_factory is not MISSING:
        make = f"_make_{each.name}()"
        return f"{make} if {each.name} is _MISSING else {each.name}" if each.init else make
    if each.init:
        return each.name
    return f"_default_{each.name}" if each.default is not MISSING else ""


def _comparing(cls: Any) -> dict[str, Any]:
    key = _key([each.name for each in fields(cls) if each.compare])

    def __eq__(self: object, other: object) -> bool:  # noqa: N807 - what it becomes
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: object) -> int:  # noqa: N807
        return hash(key(self))

    return {"__eq__": __eq__, "__hash__": __hash__}


def _key(names: list[str]) -> Callable[[object], object]:
    return attrgetter(*names) if names else lambda _: ()


def _repr(self: object) -> str:
    told = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(cast("Any", self)) if each.repr)
    return f"{self.__class__.__qualname__}({told})"


def _getstate(self: object) -> list[object]:
    return [getattr(self, each.name) for each in fields(cast("Any", self))]


def _setstate(self: object, state: list[object]) -> None:
    for each, value in zip(fields(cast("Any", self)), state, strict=True):
        _SET(self, each.name, value)


def _refuse_set(_self: object, name: str, _value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(_self: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")
