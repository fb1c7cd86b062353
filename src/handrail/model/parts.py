"""Finds what is inside a value of the model: values of one type, or all steps."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import TypeVar, cast

from handrail.model.workflow.actions import body
from handrail.model.workflow.plan import Step

T = TypeVar("T")


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
