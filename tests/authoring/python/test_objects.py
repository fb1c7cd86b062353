"""The objects mirror the YAML format key by key, and `handrail` gives them out lazily."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, fields, replace
from typing import Literal, get_args, get_origin

import pytest

import handrail
from handrail.authoring.native.guidance import ASSESS, EXTENSION_POINTS, FEATURES, REFERENCES
from handrail.authoring.native.parts import BUDGET, DEFAULTS, DONE_WHEN, FIX, RETRY, ROLE, SANDBOX
from handrail.authoring.native.schema import INPUT_RECORD, LABELS, TRIGGER, WORKFLOW
from handrail.authoring.native.steps import RECORDS, ROLES
from handrail.authoring.python import objects
from handrail.authoring.python.objects import (
    Agent,
    Assess,
    Body,
    Budget,
    Changed,
    Concurrency,
    Converge,
    Defaults,
    Dimension,
    EventTrigger,
    Exists,
    Expect,
    ExtensionPoint,
    Fails,
    Feature,
    FileCheck,
    Fix,
    Follow,
    Gate,
    Input,
    IssueTrigger,
    Passes,
    Procedure,
    PullRequestTrigger,
    Reference,
    Report,
    ResolveContext,
    Retry,
    Role,
    Sandbox,
    Schedule,
    Step,
    Subroutine,
    Unchanged,
    Workflow,
)
from handrail.authoring.python.parts import KEYS, Part
from handrail.authoring.shapes.shapes import Choice, Either, ListOf, MapOf, Record, Shape

PARTS: list[type[Part]] = [
    found
    for found in (getattr(objects, name) for name in objects.__all__)
    if isinstance(found, type) and issubclass(found, Part)
]
STEPS = [part for part in PARTS if issubclass(part, Step) and part is not Step]
CHECKS = (Passes, Fails, Changed, Unchanged, Exists, Expect)


def _form(shape: Shape) -> Shape:
    return shape.forms["map"] if isinstance(shape, Either) else shape


def _record(shape: Shape) -> Record:
    found = _form(shape)
    assert isinstance(found, Record)
    return found


def _below(shape: Record, key: str) -> Shape:
    return _form(shape.keys[key].shape)


def _dimension() -> Record:
    dimensions = _below(_record(ASSESS), "dimensions")
    assert isinstance(dimensions, MapOf)
    return _record(dimensions.value)


def _check() -> Record:
    assert isinstance(DONE_WHEN, ListOf)
    return _record(DONE_WHEN.item)


def _records() -> dict[type[Part], Record]:
    return {
        Workflow: WORKFLOW,
        Budget: BUDGET,
        Retry: _record(RETRY),
        Sandbox: _record(SANDBOX),
        Defaults: DEFAULTS,
        Role: _record(ROLE),
        Fix: _record(FIX),
        Assess: _record(ASSESS),
        Dimension: _dimension(),
        Reference: _record(REFERENCES.item),
        Feature: _record(FEATURES.item),
        ExtensionPoint: _record(EXTENSION_POINTS.value),
        Concurrency: _record(_below(WORKFLOW, "concurrency")),
        Converge: _record(ROLES["converge"].shape),
        Follow: _record(_below(RECORDS["pull-request"], "follow")),
        Body: _record(_below(RECORDS["pull-request"], "body")),
        Report: _record(_below(_check(), "report")),
        FileCheck: _record(_below(_check(), "fails")),
        IssueTrigger: LABELS,
        PullRequestTrigger: LABELS,
        **{step: RECORDS[step.TYPE] for step in STEPS},
    }


def _keys(part: type[Part]) -> set[str]:
    return {KEYS.get(each.name, each.name) for each in fields(part) if each.name != "line"}


def test_every_step_type_of_the_format_has_one_class() -> None:
    assert sorted(step.TYPE for step in STEPS) == sorted(RECORDS)


@pytest.mark.parametrize("part", _records(), ids=lambda part: part.__name__)
def test_an_object_has_exactly_the_keys_of_the_format(part: type[Part]) -> None:
    record = _records()[part]
    other_words = record.aliases.keys() - {"suppress_thought_posting"}  # a word of Subroutine's, which has its own
    assert _keys(part) | ({"type"} if part.TYPE else set()) == record.keys.keys() | other_words


def test_the_kinds_of_checks_together_have_the_keys_of_done_when() -> None:
    together = {key for check in CHECKS for key in _keys(check)} | {Report.WITHIN}
    assert together - {"ignored"} == set(_check().keys)


def test_a_check_of_what_is_unchanged_has_the_keys_of_its_map() -> None:
    inside = set(_record(_below(_check(), "unchanged")).keys)
    assert _keys(Unchanged) - {"unchanged"} | {Unchanged.AS_MAP} == inside


def test_the_kinds_of_triggers_together_have_the_keys_of_a_trigger() -> None:
    together = _keys(Schedule) | _keys(EventTrigger) | {IssueTrigger.WITHIN, PullRequestTrigger.WITHIN}
    assert together == set(_record(TRIGGER).keys)


def test_an_input_has_the_keys_of_both_forms() -> None:
    assert _keys(Input) == {"name", *INPUT_RECORD}


def test_every_object_is_held_to_the_format() -> None:
    compared = {*_records(), *CHECKS, Schedule, EventTrigger, Input}
    assert set(PARTS) - compared == {Step, Subroutine, Procedure}


def _words(hint: object) -> Iterator[str]:
    if get_origin(hint) is Literal:
        yield from get_args(hint)
        return
    for inner in get_args(hint):
        yield from _words(inner)


def _choices() -> Iterator[tuple[type[Part], str, set[str]]]:
    for part, record in _records().items():
        for key, found in record.keys.items():
            shape = found.shape.item if isinstance(found.shape, ListOf) else found.shape
            if isinstance(shape, Either):
                shape = shape.forms.get("text", shape)
            # where a `${...}` may stand as well, the type is just text
            if isinstance(shape, Choice) and not shape.placeholder:
                yield part, key, {*shape.values, *shape.also}


def test_where_the_format_wants_one_of_a_few_words_a_type_checker_knows_them() -> None:
    compared = 0
    for part, key, words in _choices():
        hints = {KEYS.get(each.name, each.name): each.type for each in fields(part)}
        assert set(_words(hints[key])) == words, f"{part.__name__}.{key}"
        compared += 1
    assert compared > 70


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_an_object_is_frozen_and_has_no_room_for_misspelled_fields(part: type[Part]) -> None:
    assert not hasattr(part.__new__(part), "__dict__")
    with pytest.raises(FrozenInstanceError):
        part.__new__(part).line = 3  # pyright: ignore[reportAttributeAccessIssue]  # the refusal is what is tested


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_replace_changes_one_field_of_any_object_and_keeps_its_line(part: type[Part]) -> None:
    names = [each.name for each in fields(part) if each.name != "line"]
    made = part(**dict.fromkeys(names, "old"), line=7)
    changed = replace(made, **{names[-1]: "new"})
    assert (getattr(changed, names[-1]), changed.line) == ("new", 7)
    assert all(getattr(changed, name) == "old" for name in names[:-1])


def test_objects_are_equal_by_what_they_say_not_by_where_they_stand() -> None:
    assert Gate("a", checks="project", line=1) == Gate("a", checks="project", line=2)
    assert "line" not in repr(Gate("a", checks="project", line=1))


def test_a_context_is_empty_unless_told_otherwise_and_cannot_be_changed() -> None:
    context = ResolveContext()
    assert (context.issue_id, context.labels, context.repository_id) == ("", (), "")
    with pytest.raises(FrozenInstanceError):
        context.issue_id = "X-1"  # pyright: ignore[reportAttributeAccessIssue]  # the refusal is what is tested


def test_the_package_exports_every_object_and_nothing_else() -> None:
    assert set(handrail.__all__) == (set(objects.__all__) - {"build_document"}) | {"__version__"}
    assert handrail.__all__ == sorted(handrail.__all__)
    # `open` is there for those who name it: a star import would hide the built-in function.
    assert dir(handrail) == sorted([*handrail.__all__, "open"])


@pytest.mark.parametrize("name", sorted(set(handrail.__all__) - {"__version__"}))
def test_an_exported_name_is_the_object_itself(name: str) -> None:
    assert getattr(handrail, name) is getattr(objects, name)


def test_a_name_that_is_not_exported_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'handrail' has no attribute 'Runner'"):
        getattr(handrail, "Runner")  # noqa: B009  # a plain access is refused by the type checker already


def test_importing_the_package_imports_none_of_its_modules() -> None:
    code = "import sys, handrail; print([name for name in sys.modules if name.startswith('handrail.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_agents_are_imported_from_the_package() -> None:
    from handrail import Agent as Exported

    assert Exported is Agent
