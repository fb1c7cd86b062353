"""Validates an artifact against a contract's schema: the part of JSON Schema that contracts use, without references.

Total: whatever the schema and the value, it answers. An unknown keyword demands nothing.
"""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal, cast

from handrail.engine.contracts.javascript_values import is_number
from handrail.late_import import late_import
from handrail.model.workflow.values import JsonValue

if TYPE_CHECKING:
    from handrail.language.patterns import read as patterns
else:
    patterns = late_import("handrail.language.patterns.read")

Schema = dict[str, JsonValue]
MAX_ISSUES = 20
_SHOWN = 60
_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_FORMATS = {"date-time": _DATE_TIME, "uuid": _UUID}
_TYPES: dict[str, Callable[[JsonValue], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": is_number,
    "integer": lambda value: is_number(value) and (isinstance(value, int) or cast("float", value).is_integer()),
}


def issues(schema: JsonValue, value: JsonValue, place: str = "") -> tuple[str, ...]:
    """List everything that is wrong with a value, each with its place; empty if it is valid."""
    found: list[str] = []
    for issue in _issues(schema, value, place):
        found.append(issue)
        if len(found) == MAX_ISSUES:
            break
    return tuple(found)


def fits(schema: JsonValue, value: JsonValue) -> bool:
    """Whether a value matches a schema."""
    return next(_issues(schema, value, ""), None) is None


def _issues(schema: JsonValue, value: JsonValue, place: str) -> Iterator[str]:
    if schema is False:
        yield _format_issue(place, "must not be present")
    if not isinstance(schema, dict):
        return
    for keyword, wanted in schema.items():
        check = _KEYWORDS.get(keyword)
        if check is not None:
            yield from check(schema, wanted, value, place)


def _format_issue(place: str, what: str) -> str:
    return f"{place or 'the artifact'} {what}"


def _join_place(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def is_same_json(one: JsonValue, other: JsonValue) -> bool:
    """Whether two values are the same JSON; true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same_json, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same_json(one[name], other[name]) for name in one)
    return one == other


def preview_value(value: JsonValue) -> str:
    """Format a value in a few characters."""
    written = repr(value) if not isinstance(value, dict | list) else f"a {'map' if isinstance(value, dict) else 'list'}"
    return written if len(written) <= _SHOWN else written[:_SHOWN] + "…"


def _check_type(_: Schema, wanted: JsonValue, value: JsonValue, place: str) -> Iterator[str]:
    names = wanted if isinstance(wanted, list) else [wanted]
    known = [name for name in names if isinstance(name, str) and name in _TYPES]
    if known and not any(_TYPES[name](value) for name in known):
        yield _format_issue(place, f"must be of type {' or '.join(known)}, got {preview_value(value)}")


def _check_const(_: Schema, wanted: JsonValue, value: JsonValue, place: str) -> Iterator[str]:
    if not is_same_json(wanted, value):
        yield _format_issue(place, f"must be {preview_value(wanted)}, got {preview_value(value)}")


def _check_enum(_: Schema, wanted: JsonValue, value: JsonValue, place: str) -> Iterator[str]:
    if isinstance(wanted, list) and not any(is_same_json(item, value) for item in wanted):
        yield _format_issue(
            place, f"must be one of {', '.join(map(preview_value, wanted))}, got {preview_value(value)}"
        )


def _check_required(_: Schema, wanted: JsonValue, value: JsonValue, place: str) -> Iterator[str]:
    if isinstance(value, dict) and isinstance(wanted, list):
        for name in wanted:
            if isinstance(name, str) and name not in value:
                yield _format_issue(_join_place(place, name), "is missing")


def _check_properties(_: Schema, wanted: JsonValue, value: JsonValue, place: str) -> Iterator[str]:
    if isinstance(value, dict) and isinstance(wanted, dict):
        for name, inner in wanted.items():
            if name in value:
                yield from _issues(inner, value[name], _join_place(place, name))


def _check_additional_properties(schema: Schema, wanted: JsonValue, value: JsonValue, place: str) -> Iterator[str]:
    known = schema.get("properties")
    if not isinstance(value, dict):
        return
    for name, item in value.items():
        if isinstance(known, dict) and name in known:
            continue
        if wanted is False:
            yield _format_issue(_join_place(place, name), "is not allowed here")
        else:
            yield from _issues(wanted, item, _join_place(place, name))


def _check_property_names(_: Schema, wanted: JsonValue, value: JsonValue, place: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name in value:
            yield from _issues(wanted, name, f"the name {preview_value(name)} in {place or 'the artifact'}")


def _check_items(_: Schema, wanted: JsonValue, value: JsonValue, place: str) -> Iterator[str]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _issues(wanted, item, f"{place}[{index}]")


def _check_pattern(_: Schema, wanted: JsonValue, value: JsonValue, place: str) -> Iterator[str]:
    if isinstance(wanted, str) and isinstance(value, str) and not patterns.has_match(wanted, value):
        yield _format_issue(place, f"must match {wanted}, got {preview_value(value)}")


def _check_format(_: Schema, wanted: JsonValue, value: JsonValue, place: str) -> Iterator[str]:
    form = _FORMATS.get(wanted) if isinstance(wanted, str) else None
    if form is not None and isinstance(value, str) and not form.fullmatch(value):
        yield _format_issue(place, f"must be a {wanted}, got {preview_value(value)}")


def _make_bound_check(
    kind: type | tuple[type, ...], measure: Callable[[JsonValue], float], which: Literal["least", "most"], unit: str
) -> Callable[[Schema, JsonValue, JsonValue, str], Iterator[str]]:
    def check(_: Schema, wanted: JsonValue, value: JsonValue, place: str) -> Iterator[str]:
        if not isinstance(value, kind) or isinstance(value, bool) or not is_number(wanted):
            return
        limit, size = cast("float", wanted), measure(value)
        if size < limit if which == "least" else size > limit:
            yield _format_issue(place, f"must {'be' if not unit else 'have'} at {which} {limit}{unit}")

    return check


def _size(value: JsonValue) -> float:
    return len(value) if isinstance(value, str | list | dict) else 0


def _number_value(value: JsonValue) -> float:
    return cast("float", value)


def _check_all_of(_: Schema, wanted: JsonValue, value: JsonValue, place: str) -> Iterator[str]:
    for part in wanted if isinstance(wanted, list) else []:
        yield from _issues(part, value, place)


def _check_any_of(_: Schema, wanted: JsonValue, value: JsonValue, place: str) -> Iterator[str]:
    if isinstance(wanted, list) and wanted and not any(fits(part, value) for part in wanted):
        yield from _issues_of_nearest_form(wanted, value, place)


def _check_one_of(_: Schema, wanted: JsonValue, value: JsonValue, place: str) -> Iterator[str]:
    if not isinstance(wanted, list) or not wanted:
        return
    fitting = sum(fits(part, value) for part in wanted)
    if fitting == 0:
        yield from _issues_of_nearest_form(wanted, value, place)
    elif fitting > 1:
        yield _format_issue(place, "matches more than one of several alternatives that exclude each other")


def _issues_of_nearest_form(forms: list[JsonValue], value: JsonValue, place: str) -> Iterator[str]:
    """Report the issues of the form that has the fewest."""
    yield from min((issues(form, value, place) for form in forms), key=len)


def _check_not(_: Schema, wanted: JsonValue, value: JsonValue, place: str) -> Iterator[str]:
    if fits(wanted, value):
        named = wanted.get("required") if isinstance(wanted, dict) else None
        what = (
            f"must not have {', '.join(map(str, named))} here"
            if isinstance(named, list)
            else "has a form that is not allowed"
        )
        yield _format_issue(place, what)


def _check_if(schema: Schema, wanted: JsonValue, value: JsonValue, place: str) -> Iterator[str]:
    yield from _issues(schema.get("then" if fits(wanted, value) else "else"), value, place)


_KEYWORDS: dict[str, Callable[[Schema, JsonValue, JsonValue, str], Iterator[str]]] = {
    "type": _check_type,
    "const": _check_const,
    "enum": _check_enum,
    "required": _check_required,
    "properties": _check_properties,
    "additionalProperties": _check_additional_properties,
    "propertyNames": _check_property_names,
    "items": _check_items,
    "pattern": _check_pattern,
    "format": _check_format,
    "minLength": _make_bound_check(str, _size, "least", " characters"),
    "maxLength": _make_bound_check(str, _size, "most", " characters"),
    "minItems": _make_bound_check(list, _size, "least", " items"),
    "maxItems": _make_bound_check(list, _size, "most", " items"),
    "minProperties": _make_bound_check(dict, _size, "least", " entries"),
    "maxProperties": _make_bound_check(dict, _size, "most", " entries"),
    "minimum": _make_bound_check((int, float), _number_value, "least", ""),
    "maximum": _make_bound_check((int, float), _number_value, "most", ""),
    "allOf": _check_all_of,
    "anyOf": _check_any_of,
    "oneOf": _check_one_of,
    "not": _check_not,
    "if": _check_if,
}
