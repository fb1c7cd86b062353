"""Finds what is inside a value of the model: values of one type, or all steps. Results can be cached."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import TypeVar, cast

from handrail.model.workflow.actions import body
from handrail.model.workflow.plan import Step

T = TypeVar("T")
R = TypeVar("R")

MAX_CACHED = 64


def parts(value: object, wanted: type[T]) -> Iterator[T]:
    """Find every value of a type inside a value of the model, except inside nested steps."""
    if isinstance(value, wanted):
        yield value
    if isinstance(value, tuple):
        for item in cast("tuple[object, ...]", value):
            if not isinstance(item, Step):
                yield from parts(item, wanted)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from parts(getattr(value, field.name), wanted)


def walk_steps(steps: tuple[Step, ...], prefix: str = "") -> Iterator[tuple[str, Step]]:
    """Yield all steps with their addresses, from top to bottom."""
    for step in steps:
        address = prefix + step.name
        yield address, step
        yield from walk_steps(body(step.action), f"{address}/")


def cached_by_identity(find: Callable[[T], R]) -> Callable[[T], R]:
    """Call a function of one frozen value once for each value: hashing a plan takes as long as reading it."""
    # The value is stored too: while it exists, no other object has its identity.
    known: OrderedDict[int, tuple[T, R]] = OrderedDict()

    def look_up(value: T) -> R:
        entry = known.get(id(value))
        if entry is None:
            entry = value, find(value)
            known[id(value)] = entry
            if len(known) > MAX_CACHED:
                known.popitem(last=False)
        return entry[1]

    return look_up
