"""Finds who reads the fields of the plan's records, by the names of the attributes and of what they are read from."""

import ast
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

MODULES = ("plan", "actions", "settings", "proofs", "guidance", "values", "types")
USUAL = frozenset({"action", "each", "over", "type_"})
"""What variables of any of these records are called."""
CALLED = {
    "Convergence": {"converge", "book"},
    "AgentPolicy": {"agents", "policy"},
    "PullSetting": {"own", "pull"},
    "Assessment": {"wanted"},
    "RecordType": {"asked", "here"},
    "GrowingRecord": {"asked", "here"},
    "AllOf": {"condition"},
    "AnyOf": {"condition"},
    "ValidationGroup": {"condition", "criteria", "group"},
    "Follow": {"follow"},
}
"""What else variables of a record are called."""


def records() -> dict[str, type[Any]]:
    """Give the records of the plan by name."""
    found: dict[str, type[Any]] = {}
    for name in MODULES:
        module = import_module(f"handrail.model.workflow.{name}")
        for each in vars(module).values():
            if isinstance(each, type) and is_dataclass(each) and each.__module__ == module.__name__:
                found[each.__name__] = each
    return found


def unread_fields(root: Path, left_out: tuple[str, ...]) -> list[str]:
    """Name the fields, as `Class.field`, that nothing below a folder reads; files that are left out do not count."""
    known = records()
    readers: set[tuple[str, str]] = set()
    matched: set[tuple[str, str]] = set()
    words: set[str] = set()
    for path in sorted(root.rglob("*.py")):
        inside = path.relative_to(root).as_posix()
        if inside.startswith(left_out):
            continue
        tree = ast.parse(path.read_text("utf-8"))
        readers |= set(_attributes(tree))
        matched |= set(_patterns(tree, known))
        # Steps of guided workflows are handed out as plain data, whose fields are read by their names.
        words |= set(_texts(tree)) if inside.startswith("engine/guided/") else set()
    return [
        f"{name}.{field.name}"
        for name, record in known.items()
        for field in fields(record)
        if field.name != "kind"
        and (name, field.name) not in matched
        and not any((called, field.name) in readers for called in _called(name))
        and not (record.__module__.endswith("guidance") and field.name in words)
    ]


def _called(name: str) -> frozenset[str]:
    own = {word.lower() for word in re.findall("[A-Z][a-z]+", name)}
    return USUAL | own | CALLED.get(name, set())


def _attributes(tree: ast.AST) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            subject = node.value
            name = subject.attr if isinstance(subject, ast.Attribute) else getattr(subject, "id", "")
            yield name, node.attr


def _patterns(tree: ast.AST, known: dict[str, type[Any]]) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.MatchClass) and getattr(node.cls, "id", "") in known:
            name = str(getattr(node.cls, "id", ""))
            places: tuple[str, ...] = getattr(known[name], "__match_args__", ())
            yield from ((name, field) for field in (*places[: len(node.patterns)], *node.kwd_attrs))


def _texts(tree: ast.AST) -> Iterator[str]:
    return (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
