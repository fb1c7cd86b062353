"""JSON values, told apart for the type checker."""

from typing import Any, TypeAlias, TypeGuard

Json: TypeAlias = dict[str, Any]


def is_object(value: Any) -> TypeGuard[Json]:
    """Whether a value is an object."""
    return isinstance(value, dict)


def is_array(value: Any) -> TypeGuard[list[Any]]:
    """Whether a value is an array."""
    return isinstance(value, list)
