"""Every key that an author may write has a test that shows what it changes when it runs.

A key that compiles and does nothing is a defect. What is not built yet is in `PENDING`, which only shrinks; what has
no effect by intent is in `WITHOUT_EFFECT`, with the sentence of the documentation that says so.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from support.differences.proofs import proven_in
from support.differences.tables import config_keys, native_keys, workrail_keys
from support.docs.pages import pages, text_of

PROVEN = dict(proven_in(Path(__file__).parent))

PENDING: dict[str, str] = {}
"""Keys that somebody builds now, with what is missing."""

WITHOUT_EFFECT: dict[str, str] = {
    **dict.fromkeys(
        ("workflow.trigger", "trigger.schedule", "trigger.timezone", "trigger.issue", "trigger.pull_request"),
        "Triggers are checked and pinned; nothing fires them yet.",
    ),
    **dict.fromkeys(
        ("trigger.event", "label filter.labels"), "Triggers are checked and pinned; nothing fires them yet."
    ),
    **dict.fromkeys(
        ("workflow.labels", "workflow.tags", "workflow.classifications"),
        "Workflows are not chosen by labels or classifications yet.",
    ),
    **dict.fromkeys(
        ("pull-request step.follow", "follow.on", "follow.fix"),
        "`follow` has no effect",
    ),
    **dict.fromkeys(("follow.max", "follow.max_iterations", "follow.max_cycles"), "`follow` has no effect"),
    "workflow.validated_against_spec": "written by `handrail stamp`",
    "json: workflow.validatedAgainstSpecVersion": "written by `handrail stamp`",
    "json: step.hasValidation": "accepted for old files; it has no effect",
    "json: template_call step.title": "the steps that take its place have titles of their own",
    "json: condition source.loopId": "a label for the artifact",
}
"""Keys that change nothing in a run, each with the words that tell its author."""


@pytest.mark.parametrize("keys", [native_keys, workrail_keys, config_keys], ids=["yaml", "json", "config"])
def test_every_key_makes_a_difference_that_a_test_shows(keys: Callable[[], set[str]]) -> None:
    unproven = keys() - PROVEN.keys() - PENDING.keys() - WITHOUT_EFFECT.keys()
    assert sorted(unproven) == []


def test_tests_prove_only_keys_that_there_are() -> None:
    known = native_keys() | workrail_keys() | config_keys()
    assert sorted(PROVEN.keys() - known) == []
    assert sorted((PENDING.keys() | WITHOUT_EFFECT.keys()) - known) == []


def test_a_key_is_proven_or_pending_or_without_effect_and_only_one_of_them() -> None:
    assert sorted(PENDING.keys() & PROVEN.keys()) == []
    assert sorted(WITHOUT_EFFECT.keys() & (PROVEN.keys() | PENDING.keys())) == []


@pytest.mark.parametrize("key", WITHOUT_EFFECT)
def test_the_documentation_says_of_a_key_that_it_changes_nothing(key: str) -> None:
    assert any(WITHOUT_EFFECT[key] in text_of(page) for page in pages())
