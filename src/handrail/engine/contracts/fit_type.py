"""Checks the result of an agent against the type that its step `returns`.

1. Total: whatever the type and the value, it answers.
2. Nothing is guessed: `"3"` is not a number, `High` is not `high`. A repair changes how a value is written, never what
   it means, and every repair is reported.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from handrail.engine.text.globs import glob_problem
from handrail.engine.text.plain_json import read_plain, require_plain
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.names import make_identifier, path_problem
from handrail.model.suggest import suggest
from handrail.model.workflow.types import (
    AnyType,
    ChoiceType,
    ListType,
    MapType,
    RecordType,
    ScalarKind,
    ScalarType,
    SchemaType,
    Type,
)
from handrail.model.workflow.values import JsonValue

if TYPE_CHECKING:
    from handrail.engine.contracts import javascript_values, schema
else:
    javascript_values = late_import("handrail.engine.contracts.javascript_values")
    schema = late_import("handrail.engine.contracts.schema")

MAX_PROBLEMS = 20
MAX_SLUG_LENGTH = 100
SLUG = r"[a-z0-9]([a-z0-9-]*[a-z0-9])?"
_SLUG = re.compile(SLUG)


@frozen
class Problem:
    """One thing that is wrong with a result."""

    path: str
    """Where, as a JSON path: `$.tasks[0].id`."""
    expected: str
    given: str = ""

    def __str__(self) -> str:
        """Format the problem as a sentence."""
        return (
            f"{self.path}: expected {self.expected}, got {self.given}" if self.given else f"{self.path} {self.expected}"
        )


@frozen
class Fit:
    """The result matches its type; `repairs` lists what was rewritten."""

    value: JsonValue
    repairs: tuple[str, ...] = ()


@frozen
class Misfit:
    """The result does not match its type."""

    problems: tuple[Problem, ...]


Verdict: TypeAlias = Fit | Misfit


def check_type(type_: Type, value: JsonValue, root: str = "") -> Verdict:
    """Check a result against a type; absolute paths below `root`, the agent's folder, become relative."""
    try:
        require_plain(value)
    except ValueError as error:
        return Misfit((Problem("$", f"cannot be stored: {error}"),))
    check = _Check(root.rstrip("/"))
    found = check.fit_value(type_, value, "$")
    if check.problems:
        return Misfit(tuple(check.problems[:MAX_PROBLEMS]))
    return Fit(found, tuple(check.repairs))


@dataclass(slots=True)
class _Check:
    """The check of one result, with the problems and repairs found so far."""

    root: str
    problems: list[Problem] = field(default_factory=list[Problem])
    repairs: list[str] = field(default_factory=list[str])

    def fit_value(self, type_: Type, value: JsonValue, path: str) -> JsonValue:
        """Return the value as it is stored, and record what is wrong with it."""
        if len(self.problems) >= MAX_PROBLEMS:
            return value
        match type_:
            case ScalarType():
                return self._fit_scalar(type_.kind, value, path)
            case ListType() if isinstance(value, list):
                return [self.fit_value(type_.item, item, f"{path}[{index}]") for index, item in enumerate(value)]
            case MapType() if isinstance(value, dict):
                return {name: self.fit_value(type_.value, item, field_path(path, name)) for name, item in value.items()}
            case RecordType() if isinstance(value, dict):
                return self._fit_record(type_, value, path)
            case _:
                return self._fit_unchanged(type_, value, path)

    def _fit_unchanged(self, type_: Type, value: JsonValue, path: str) -> JsonValue:
        match type_:
            case AnyType():
                return value
            case ChoiceType() if isinstance(value, str) and value in type_.values:
                return value
            case SchemaType():
                self.problems += map(_parse_schema_issue, schema.issues(read_plain(type_.schema), value, path))
                return value
            case _:
                self.problems.append(Problem(path, describe_type(type_), describe_value(value)))
                return value

    def _fit_scalar(self, kind: ScalarKind, value: JsonValue, path: str) -> JsonValue:
        if kind == "int" and isinstance(value, float) and value.is_integer():
            self.repairs.append(f"{path}: {value} was read as {int(value)}")
            return int(value)
        if kind == "path" and isinstance(value, str):
            value = self._make_relative(value, path)
        fits, expected = SCALARS[kind]
        if fits(value):
            return value
        reason = REASONS[kind](value) if kind in REASONS and isinstance(value, str) else None
        self.problems.append(Problem(path, expected, describe_value(value) + (f", which {reason}" if reason else "")))
        return value

    def _make_relative(self, value: str, path: str) -> str:
        bare = value
        if self.root and bare.startswith(self.root + "/"):
            bare = bare[len(self.root) + 1 :]
        while bare.startswith("./"):
            bare = bare[2:].lstrip("/")
        if bare != value:
            self.repairs.append(f"{path}: {schema.preview_value(value)} was read as {schema.preview_value(bare)}")
        return bare

    def _fit_record(self, type_: RecordType, value: dict[str, JsonValue], path: str) -> JsonValue:
        named = self._rename_fields(type_, value, path)
        kept: dict[str, JsonValue] = {}
        for each in type_.fields:
            place = field_path(path, each.name)
            if each.name not in named:
                if not each.optional:
                    self.problems.append(Problem(place, f"is missing: give {describe_type(each.type)}"))
            elif each.optional and named[each.name] is None and not isinstance(each.type, AnyType):
                self.repairs.append(f"{place}: no value was given, so it was left out")
            else:
                kept[each.name] = self.fit_value(each.type, named[each.name], place)
        self._handle_extra_fields(type_, named, kept, path)
        return kept

    def _rename_fields(self, type_: RecordType, value: dict[str, JsonValue], path: str) -> dict[str, JsonValue]:
        """Rename fields written with `-`, as in workflows, to the `_` that expressions use."""
        known = set(type_.names())
        named = dict(value)
        for name in value:
            meant = make_identifier(name)
            if name not in known and meant in known and meant not in value:
                named[meant] = named.pop(name)
                self.repairs.append(f"{field_path(path, name)} was read as {meant}")
        return named

    def _handle_extra_fields(
        self, type_: RecordType, named: dict[str, JsonValue], kept: dict[str, JsonValue], path: str
    ) -> None:
        """Drop fields that were not asked for, unless their name resembles a missing one."""
        known = set(type_.names())
        absent = known - named.keys()
        for name in [each for each in named if each not in known]:
            meant = None if type_.open else suggest(name, absent)
            if type_.open:
                kept[name] = named[name]
            elif meant is not None:
                self.problems.append(Problem(field_path(path, name), f"is unknown: did you mean '{meant}'?"))
            else:
                self.repairs.append(f"{field_path(path, name)} was not asked for, so it was left out")


def _parse_schema_issue(issue: str) -> Problem:
    place, _, what = issue.partition(" ")
    return Problem(place, what)


def field_path(path: str, name: str) -> str:
    """Build the JSON path of a field."""
    return f"{path}.{name}" if name.isidentifier() else f"{path}[{schema.preview_value(name)}]"


def describe_value(value: JsonValue) -> str:
    """Describe a value in a few words."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f"the text {schema.preview_value(value)}"
        case _:
            return schema.preview_value(value)


def _is_path(value: JsonValue) -> bool:
    return isinstance(value, str) and value.strip() not in ("", ".") and path_problem(value) is None


def _is_slug(value: JsonValue) -> bool:
    return isinstance(value, str) and len(value) <= MAX_SLUG_LENGTH and _SLUG.fullmatch(value) is not None


def _is_glob(value: JsonValue) -> bool:
    return isinstance(value, str) and glob_problem(value) is None


def _is_number(value: JsonValue) -> bool:
    return javascript_values.is_number(value)


SCALARS: dict[ScalarKind, tuple[Callable[[JsonValue], bool], str]] = {
    "string": (lambda value: isinstance(value, str), "a text"),
    "int": (lambda value: _is_number(value) and isinstance(value, int), "a whole number"),
    "number": (_is_number, "a number"),
    "bool": (lambda value: isinstance(value, bool), "true or false"),
    "path": (_is_path, "a path below the workspace, relative, with '/' and without '..'"),
    "slug": (_is_slug, "a short name of a-z, 0-9 and '-' that starts and ends with a letter or digit"),
    "glob": (_is_glob, "a glob below the workspace, such as 'src/**/*.py'"),
    "null": (lambda value: value is None, "null"),
}
"""The check of each kind of scalar, and how the kind is described."""
REASONS: dict[ScalarKind, Callable[[str], str | None]] = {"path": path_problem, "glob": glob_problem}
"""Explains why a text is not of a kind, where that is known."""


def describe_type(type_: Type) -> str:
    """Describe what a type asks for, in a few words."""
    match type_:
        case ScalarType():
            return SCALARS[type_.kind][1]
        case ChoiceType():
            return "one of " + ", ".join(map(repr, type_.values))
        case ListType():
            return "a list"
        case MapType() | RecordType():
            return "a map"
        case AnyType() | SchemaType():
            return "a value"
