"""Converts what a person typed into the inputs that a workflow declares; every error names the input."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import NoReturn, cast

from handrail.compiler.record_types import ISSUE
from handrail.errors import UsageError
from handrail.model.names import make_identifier
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.plan import EMPTY_ISSUE, Input, issue_from
from handrail.model.workflow.types import TEXT_KINDS, AnyType, ChoiceType, ListType, ScalarType, Type
from handrail.model.workflow.values import JsonValue
from handrail.operations.workflows.condition_text import input_type

MAX_INT = 2**53 - 1
"""The largest whole number on which all JSON readers agree."""
INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
TRUTHS = {"true": True, "yes": True, "false": False, "no": False}
EXAMPLES = {"int": "3", "number": "0.5", "bool": "true", "path": "src/app.py", "list": "a,b", "json": "'{\"a\": 1}'"}


def bind(
    declared: Sequence[Input], given: Sequence[str], task: str, issue: dict[str, JsonValue] | None = None
) -> dict[str, JsonValue]:
    """Return a value for every declared input: what was passed, the task where it belongs, or the default.

    An issue takes the place of the task. A workflow that declares no input for it can read it nevertheless.
    """
    texts = _texts(declared, given)
    place = task_input(declared, texts) if task or issue else None
    if place is not None and issue and place.type == ISSUE:
        rest = [each for each in declared if each.name != place.name]
        return {place.name: dict(issue), **bind(rest, given, "")}
    if place is not None:
        texts[place.name] = task
    if issue:
        unread = {} if any(each.name == "issue" for each in declared) else {"issue": dict(issue)}
        pairs = [f"{name}={text}" for name, text in texts.items()]
        return {**unread, **bind(declared, pairs, "")}
    missing = [each for each in declared if each.required and each.name not in texts]
    if missing:
        _refuse_missing(missing)
    return {each.name: read(each, texts[each.name]) if each.name in texts else each.default for each in declared}


def format_given_values(values: Mapping[str, object]) -> tuple[str, ...]:
    """Convert values that a program passes to what a person would type: `NAME=VALUE`."""
    return tuple(f"{name}={_format_value(name, value)}" for name, value in values.items())


def _format_value(name: str, value: object) -> str:
    try:
        return value if isinstance(value, str) else json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        hint = "pass text, numbers, true or false, and lists and objects of these"
        raise UsageError(f"input '{name}' is not JSON: {error}", next_step=hint) from None


def parse_given_values(declared: Sequence[Input], given: Sequence[str]) -> dict[str, JsonValue]:
    """Return the values of only those inputs that were passed."""
    texts = _texts(declared, given)
    return {each.name: read(each, texts[each.name]) for each in declared if each.name in texts}


def task_input(declared: Sequence[Input], texts: dict[str, str]) -> Input | None:
    """Return the input to which a plain task argument goes: an issue, or else the only required text."""
    free = [each for each in declared if each.name not in texts]
    issues = [each for each in free if each.type == ISSUE]
    if issues:
        return issues[0]
    wanted = [
        each for each in free if each.required and isinstance(each.type, ScalarType) and each.type.kind in TEXT_KINDS
    ]
    return wanted[0] if len(wanted) == 1 else None


def read(declared: Input, text: str) -> JsonValue:
    """Parse a text as a value of the input's type."""
    if any(0xD800 <= ord(character) <= 0xDFFF for character in text):
        _refuse(declared, "it is not valid UTF-8")
    if declared.type == ISSUE:
        return _issue(declared, text)
    return _value(declared, declared.type, text)


def _texts(declared: Sequence[Input], given: Sequence[str]) -> dict[str, str]:
    known = {make_identifier(each.name): each.name for each in declared}
    texts: dict[str, str] = {}
    for pair in given:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise UsageError(
                f"--input {pair!r} does not have the form NAME=VALUE", next_step="for example --input base=main"
            )
        if make_identifier(name) not in known:
            said = ", ".join(known.values()) or "none"
            hint = f"inputs of this workflow: {said}"
            raise UsageError(f"there is no input '{name}'{did_you_mean(name, known.values())}", next_step=hint)
        if known[make_identifier(name)] in texts:
            raise UsageError(f"input '{name}' was given twice", next_step="pass it once")
        texts[known[make_identifier(name)]] = text
    return texts


def _refuse_missing(missing: Sequence[Input]) -> NoReturn:
    said = ", ".join(f"'{each.name}' ({_type_words(each)})" for each in missing)
    what, verb = ("input", "is") if len(missing) == 1 else ("inputs", "are")
    typed = " ".join(f"--input {each.name}={_example(each)}" for each in missing)
    raise UsageError(f"the {what} {said} {verb} required", next_step=f"add {typed}")


def _value(declared: Input, type_: Type, text: str) -> JsonValue:
    match type_:
        case ScalarType(kind="int"):
            return _int(declared, text)
        case ScalarType(kind="number"):
            return _number(declared, text)
        case ScalarType(kind="bool"):
            return TRUTHS[text.lower()] if text.lower() in TRUTHS else _refuse(declared, "it is not true or false")
        case ScalarType():
            return text
        case ChoiceType():
            return text if text in type_.values else _refuse_choice(declared, type_, text)
        case ListType():
            return _list(declared, type_, text)
        case _:
            return _json(declared, text)


def _int(declared: Input, text: str) -> JsonValue:
    if not INTEGER.fullmatch(text):
        _refuse(declared, "it is not a whole number")
    # Longer texts are refused before they are converted, which takes time that grows with their square.
    if len(text) > 20 or abs(int(text)) > MAX_INT:
        _refuse(declared, f"it is larger than {MAX_INT}")
    return int(text)


def _number(declared: Input, text: str) -> JsonValue:
    # A whole number of up to 15 digits stays exact in every JSON reader.
    if INTEGER.fullmatch(text) and len(text) < 16:
        return int(text)
    if not NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        _refuse(declared, "it is not a number")
    return float(text)


def _refuse_choice(declared: Input, type_: ChoiceType, text: str) -> NoReturn:
    _refuse(declared, f"it is not one of {', '.join(type_.values)}{did_you_mean(text, type_.values)}")


def _list(declared: Input, type_: ListType, text: str) -> JsonValue:
    if not text.lstrip().startswith("["):
        items = [each.strip() for each in text.split(",")] if text.strip() else []
        plain = isinstance(type_.item, AnyType)
        return [each if plain else _value(declared, type_.item, each) for each in items]
    found = _json(declared, text)
    if not isinstance(found, list):
        _refuse(declared, "it is not a list")
    if isinstance(type_.item, AnyType):
        return found
    return [_value(declared, type_.item, each if isinstance(each, str) else json.dumps(each)) for each in found]


def _json(declared: Input, text: str) -> JsonValue:
    try:
        found = cast("JsonValue", json.loads(text, parse_constant=_refuse_constant))
        json.dumps(found, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else f"it is not JSON ({error})"
        _refuse(declared, reason)
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a valid JSON number")


def _issue(declared: Input, text: str) -> JsonValue:
    if not text.lstrip().startswith("{"):
        return issue_from(text)
    found = _json(declared, text)
    unknown = sorted(set(found) - set(EMPTY_ISSUE)) if isinstance(found, dict) else []
    if not isinstance(found, dict) or unknown:
        _refuse(declared, f"an issue has no '{unknown[0]}'" if unknown else "it is not an issue")
    wrong = [name for name, value in found.items() if type(value) is not type(EMPTY_ISSUE[name])]
    if wrong:
        _refuse(declared, f"its '{wrong[0]}' has the wrong type")
    return {**EMPTY_ISSUE, **found}


def _refuse(declared: Input, why: str) -> NoReturn:
    message = f"input '{declared.name}' must be {_type_words(declared)}: {why}"
    raise UsageError(message, next_step=f"for example --input {declared.name}={_example(declared)}")


def _example(declared: Input) -> str:
    type_ = declared.type
    if isinstance(type_, ChoiceType):
        return type_.values[0]
    if isinstance(type_, ListType):
        return EXAMPLES["list"]
    if declared.type == ISSUE:
        return "'what is wrong'"
    return EXAMPLES.get("json" if isinstance(type_, AnyType) else str(type_.kind), "TEXT")


def _type_words(declared: Input) -> str:
    return "json" if isinstance(declared.type, AnyType) else input_type(declared)
