"""Chooses the values that a step or an input may have, one for each way in which they decide what follows."""

import json
from collections.abc import Callable, Iterator

from handrail.engine.simulation.deciding_values import Decider, Path, PlanReads, atoms
from handrail.engine.simulation.domains import FieldReads, samples
from handrail.frozen import frozen
from handrail.language.expressions.evaluate import evaluate
from handrail.language.expressions.refs import refs
from handrail.language.expressions.syntax import Expression as Syntax
from handrail.language.problems import EvaluationError, UndefinedError
from handrail.model.names import make_identifier
from handrail.model.workflow.plan import Input, Step
from handrail.model.workflow.types import BOOL, ChoiceType, Type
from handrail.model.workflow.values import JsonValue

MAX_CANDIDATES = 16
MAX_LABEL_LENGTH = 40
_OF_STEP = frozenset(
    {"status", "exit_code", "stderr", "diff", "branch", "commit", "attempts", "feedback", "cost", "duration"}
)


@frozen
class Candidate:
    """A value, and a description of what is special about it."""

    value: JsonValue
    says: str = ""


@frozen
class _Subject:
    """Something that produces a value: how paths read it, and the names under which it is visible."""

    inside: Callable[[Path], Path | None]
    scope: Callable[[JsonValue], dict[str, JsonValue]]
    name: str = ""
    """The name shown before its values."""


def step_candidates(step: Step, type_: Type, reading: PlanReads) -> tuple[Candidate, ...]:
    """Choose the relevant results of a step that succeeds."""
    output, name = make_identifier(step.output or ""), make_identifier(step.name)

    def inside(path: Path) -> Path | None:
        if output and path[0] == output:
            return path[1:]
        if path[:2] == ("previous_step", "output"):
            return path[2:]
        return _path_in_record(path[2:]) if path[:2] == ("steps", name) else None

    def scope(value: JsonValue) -> dict[str, JsonValue]:
        fields = value if isinstance(value, dict) else {}
        text = value if isinstance(value, str) else ""
        record: JsonValue = {"summary": text, "stdout": text, **fields, "output": value}
        return {"steps": {name: record}, **({output: value} if output else {})}

    return _choose_candidates(_Subject(inside, scope), type_, reading)


def input_candidates(declared: Input, reading: PlanReads) -> tuple[Candidate, ...]:
    """Choose the relevant values of an input that was not given, its default first."""
    name = make_identifier(declared.name)

    def inside(path: Path) -> Path | None:
        if path[0] == name:
            return path[1:]
        return path[2:] if path[:2] == ("input", name) else None

    def scope(value: JsonValue) -> dict[str, JsonValue]:
        return {name: value, "input": {name: value}}

    first = [] if declared.required else [declared.default]
    return _choose_candidates(_Subject(inside, scope, declared.name), declared.type, reading, first)


def _path_in_record(rest: Path) -> Path | None:
    if not rest or rest[0] in _OF_STEP:
        return None
    if rest[0] in ("stdout", "summary"):
        return ()
    return rest[1:] if rest[0] == "output" else rest


def _choose_candidates(
    subject: _Subject, type_: Type, reading: PlanReads, first: list[JsonValue] | None = None
) -> tuple[Candidate, ...]:
    asked = gather_asked(subject.inside, reading)
    found = [*(first or []), *samples(type_, asked)]
    if first and not asked.matters:
        found = first
    elif first and not asked.is_compared and not isinstance(type_, ChoiceType) and type_ != BOOL:
        # A value that is only passed on matters only if it is one of a few choices.
        found = first
    kept: dict[str, JsonValue] = {}
    spare: dict[str, JsonValue] = {}
    for value in found:
        marks, wrong = _signature(subject, value, reading)
        (spare if wrong else kept).setdefault(marks, value)
    values = list((kept or spare).values())[:MAX_CANDIDATES]
    return tuple(Candidate(each, ", ".join(_words(each, asked, subject.name))) for each in values)


def gather_asked(inside: Callable[[Path], Path | None], reading: PlanReads) -> FieldReads:
    """Collect everything that is asked about one value."""
    asked = FieldReads()
    for path in reading.paths:
        for rest in _relative_paths(inside, reading, path):
            asked.add(rest)
    for path in reading.orders:
        for rest in _relative_paths(inside, reading, path):
            asked.add(rest).empty = True
    for decider in reading.deciders:
        for path in decider.paths:
            _add(asked, decider, _relative_paths(inside, reading, path))
    return asked


def _relative_paths(inside: Callable[[Path], Path | None], reading: PlanReads, path: Path) -> Iterator[Path]:
    """Yield what a path reads of the value, if it reads it at all."""
    for meant in reading.expand_aliases(path):
        rest = inside(meant)
        if rest is not None:
            yield rest


def _add(asked: FieldReads, decider: Decider, rests: Iterator[Path]) -> None:
    for rest in rests:
        place = asked.add(rest)
        place.constants.extend(decider.constants)
        place.passed = place.passed or decider.passed
        place.decides = place.decides or not decider.passed


def _signature(subject: _Subject, value: JsonValue, reading: PlanReads) -> tuple[str, bool]:
    """Describe how a value decides, as a text, and whether it is of a kind that a condition cannot evaluate."""
    marks: list[object] = []
    wrong = False
    for decider in reading.deciders:
        for atom in atoms(decider.tree):
            paths = [ref.parts for ref in refs(atom)]
            if paths and all(subject.inside(path) is not None for path in paths) and not decider.passed:
                mark = _mark(atom, subject.scope(value), decider)
                wrong = wrong or mark == "wrong"
                marks.append(mark)
            else:
                marks += _parts(subject, value, paths, reading)
    return json.dumps(marks), wrong


def _mark(atom: Syntax, scope: dict[str, JsonValue], decider: Decider) -> JsonValue:
    try:
        found = evaluate(atom, scope)
    except UndefinedError:
        return "undefined"
    except EvaluationError:
        return "wrong"
    if isinstance(found, list):
        # For lists that are iterated over it matters if there are none, one or several items, or more than rounds.
        beyond = [len(found) > each for each in decider.constants if isinstance(each, int)]
        return [min(len(found), 2), json.dumps(found, default=str) if len(found) == 1 else "", *beyond]
    return found if isinstance(found, bool) else json.dumps(found, default=str)


def _parts(subject: _Subject, value: JsonValue, paths: list[Path], reading: PlanReads) -> Iterator[JsonValue]:
    """Yield what is read of a value together with other values, which counts as it is."""
    for path in paths:
        yield from (_value_at(value, rest) for rest in _relative_paths(subject.inside, reading, path))


def _value_at(value: JsonValue, path: Path) -> JsonValue:
    for place, part in enumerate(path):
        if isinstance(value, list):
            return [_value_at(each, path[place + 1 :]) for each in value]
        if not isinstance(value, dict):
            return None
        value = value.get(part, "absent")
    return value


def _words(value: JsonValue, asked: FieldReads, name: str) -> Iterator[str]:
    if asked.decides or (asked.passed and not asked.fields):
        yield f"{name} = {_short(value)}" if name else _short(value)
    if isinstance(value, dict):
        for part, inner in asked.fields.items():
            yield from _words(value.get(part), inner, f"{name}.{part}" if name else part)


def _short(value: JsonValue) -> str:
    if isinstance(value, list):
        return "no items" if not value else f"{len(value)} item{'s' if len(value) > 1 else ''}"
    if isinstance(value, dict):
        return f"{len(value)} fields"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_LABEL_LENGTH else f"{text[:MAX_LABEL_LENGTH]}…"
