"""Names and fields in plain data. Only maps have fields; a key with `-` is found under `_`."""

from collections.abc import Mapping
from typing import cast

from handrail.language.values import Budget, Value, describe_kind, plain
from handrail.model.suggest import did_you_mean


def find_key(names: Mapping[str, object], name: str) -> str | None:
    """Find the key that a name in an expression stands for."""
    if name in names:
        return name
    if "_" not in name:
        return None
    hyphenated = name.replace("_", "-")
    if hyphenated in names:
        return hyphenated
    # Step names may mix both, as in `run_unit-tests`.
    return next((key for key in names if type(key) is str and key.replace("-", "_") == name), None)


def variable(scope: Mapping[str, object], name: str, budget: Budget) -> Value:
    """Look up the value of a variable."""
    budget.spend()
    key = find_key(scope, name)
    if key is None:
        budget.fail_undefined(f"'{name}' is not defined{did_you_mean(name, scope)}")
    return plain(scope[key], budget)


def field(subject: Value, name: str, budget: Budget) -> Value:
    """Look up one field of a map."""
    budget.spend()
    if subject is None:
        budget.fail_undefined(f"there is no field '{name}': the value before it is none")
    if not isinstance(subject, dict):
        hint = "`| length` counts" if name in ("length", "size", "count") else None
        budget.fail("unknown-field", f"{describe_kind(subject)} has no field '{name}'", hint)
    key = find_key(subject, name)
    if key is None:
        budget.spend(len(subject) // 8)
        budget.fail_undefined(f"field '{name}' does not exist", f"guard it: `| default(...)`{_keys(subject)}")
    return plain(subject[key], budget)


def field_of(subject: Value, path: str, budget: Budget) -> Value:
    """Look up the field at a dotted path, as in `map('user.name')`."""
    value = subject
    for name in path.split("."):
        value = field(plain(value, budget), name, budget)
    return value


def item(subject: Value, index: Value, budget: Budget) -> Value:
    """Look up one item of a list by number, or of a map by key."""
    budget.spend()
    if subject is None:
        budget.fail_undefined("there is no item: the value before `[` is none")
    if isinstance(subject, dict) and isinstance(index, str):
        if index not in subject:
            budget.fail_undefined(f"key '{index[:40]}' does not exist")
        return plain(subject[index], budget)
    if isinstance(subject, list | tuple) and isinstance(index, int) and not isinstance(index, bool):
        if not -len(subject) <= index < len(subject):
            budget.fail_undefined(f"there is no item {index} in a list of {len(subject)}")
        return plain(subject[index], budget)
    return budget.fail("type-mismatch", f"{describe_kind(subject)} cannot be indexed with {describe_kind(index)}")


def _keys(subject: dict[str, Value]) -> str:
    shown = [key for key in list(subject)[:8] if type(cast("object", key)) is str]
    return f"; the fields are {', '.join(shown)}" if shown else ""
