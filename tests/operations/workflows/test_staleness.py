"""Staleness compares a stamp with the current spec and is only shown where somebody can act on it."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.authoring.read import read_bundle
from handrail.model.diagnostics import Report
from handrail.model.source import Bundle, Document, SourceText
from handrail.operations.workflows.staleness import is_shown, staleness, stamp_of
from handrail.sources.folders import Folders
from handrail.sources.tiers import Location, Tier, WorkflowFile

PLACE = Location(Folders(Path("/home/ann"), Path("/home/ann/data")), Path("/repo"), Path("/repo"))


def found(tier: Tier, path: str = ".handrail/workflows/a.json") -> WorkflowFile:
    return WorkflowFile("a", tier, "json", Path("/repo") / path, folder=False)


def document(text: str, main: str = "workflow.yaml") -> Document:
    read = read_bundle(Bundle(main, {main: SourceText(main, text)}), Report())
    assert read is not None
    return read


@given(st.integers(1), st.integers(1))
def test_a_stamp_is_current_or_probably_stale(stamp: int, spec: int) -> None:
    assert staleness(stamp, spec) == ("none" if stamp == spec else "likely")


@given(st.integers())
def test_without_a_stamp_it_is_possibly_stale(spec: int) -> None:
    assert staleness(None, spec) == "possible"


def test_builtin_workflows_show_it_only_to_developers() -> None:
    assert [is_shown(PLACE, found(tier)) for tier in Tier] == [True, True, False]
    assert [is_shown(replace(PLACE, developing=True), found(tier)) for tier in Tier] == [True, True, True]


@pytest.mark.parametrize(("path", "expected"), [("workflows/a.json", False), ("docs/workflows/a.json", True)])
def test_a_catalogue_at_the_root_of_the_repository_is_like_built_in_ones(path: str, expected: bool) -> None:
    assert is_shown(PLACE, found(Tier.REPOSITORY, path)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("validated_against_spec: 3", 3),
        ("name: x", None),
        ("validated_against_spec: yes", None),
        ("validated_against_spec: true", None),
    ],
)
def test_a_native_stamp_is_read_from_its_key(text: str, expected: int | None) -> None:
    assert stamp_of(document(text)) == expected


def test_a_workrail_stamp_is_read_from_its_key() -> None:
    assert stamp_of(document('{"validatedAgainstSpecVersion": 2}', "workflow.json")) == 2
