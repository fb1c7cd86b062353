"""What no workflow can hold is refused with its place and a way out."""

from enum import Enum
from pathlib import PurePosixPath
from typing import Any

import pytest
from inline_snapshot import snapshot

from handrail.authoring.python.objects import Agent, Fix, Gate, Loop, Workflow
from handrail.authoring.python.tree import build_document
from handrail.model.diagnostics import Report
from handrail.model.source import Bundle, SourceText, plain

SHOWN = "fix-bug/workflow.py"


def _refusals(workflow: object, text: str = "WORKFLOW = ...\n") -> list[tuple[int, str, str | None]]:
    report = Report()
    assert build_document(workflow, _bundle(text), report) is None
    assert {found.code for found in report} == {"python-value"}
    return [(found.line, found.message, found.hint) for found in report]


def _bundle(text: str = "WORKFLOW = ...\n") -> Bundle:
    return Bundle("workflow.py", {"workflow.py": SourceText(SHOWN, text)})


def _plain(workflow: object) -> Any:
    document = build_document(workflow, _bundle(), Report())
    return plain(document.root) if document is not None else None


async def _coroutine() -> None:
    return None


RESOLVE = '"""A workflow."""\n\nasync def resolve(context):\n    return None\n'


@pytest.mark.parametrize("returned", [None, [], "fix-bug", 3, Agent("a", prompt="p"), Workflow, object()])
def test_anything_but_a_workflow_is_refused_at_resolve(returned: object) -> None:
    assert [line for line, _, _ in _refusals(returned, RESOLVE)] == [3]


def test_the_refusal_says_what_was_returned_and_what_to_do() -> None:
    waiting = _coroutine()
    returned = [None, waiting, Agent("a", prompt="p")]
    found = [_refusals(each, RESOLVE)[0] for each in returned]
    waiting.close()
    assert found == snapshot(
        [
            (3, "resolve() returned nothing, not a workflow", "end it with a line such as `return WORKFLOW`"),
            (3, "resolve() returned a coroutine, not a workflow", "write `async def resolve` and await it there"),
            (
                3,
                "resolve() returned an Agent, not a workflow",
                'return Workflow("NAME", steps=[...]), or a dict in the shape of the YAML',
            ),
        ]
    )


def test_a_file_without_resolve_is_refused_at_its_start() -> None:
    assert [line for line, _, _ in _refusals(None, "")] == [1]


class Colour(Enum):
    RED = 1


def test_a_value_that_no_workflow_can_hold_is_named_with_its_place() -> None:
    wrong: Any = PurePosixPath("prompts/10-coding.md")
    steps: list[Any] = [
        Agent("a", prompt=wrong, line=1),
        Gate("g", checks={"t": wrong}, fix=Fix(wrong, line=3), line=2),
        {"name": b"x", "labels": {"a"}, 3: "x", "colour": Colour.RED},
    ]
    text = "A = 1\nB = 2\nC = 3\n"
    assert _refusals(Workflow("w", steps=steps), text) == snapshot(
        [
            (
                1,
                "steps[0].prompt contains a PurePosixPath, which a workflow cannot contain",
                "wrap it in str(...)",
            ),
            (
                2,
                "steps[1].checks.t contains a PurePosixPath, which a workflow cannot contain",
                "wrap it in str(...)",
            ),
            (
                3,
                "steps[1].fix.prompt contains a PurePosixPath, which a workflow cannot contain",
                "wrap it in str(...)",
            ),
            (1, "steps[2].name contains bytes, which a workflow cannot contain", "decode it to text"),
            (1, "steps[2].labels contains a set, which a workflow cannot contain", "use a list, which has an order"),
            (1, "steps[2] has a key that is a number; keys are text", 'write the key in quotes: {"name": ...}'),
            (
                1,
                "steps[2].colour contains a Colour, which a workflow cannot contain",
                "use text, numbers, True, False, None, lists, dicts and the objects of handrail",
            ),
        ]
    )


@pytest.mark.parametrize(
    "number",
    [2**53, -(2**53), 10**5000, float("nan"), float("inf"), float("-inf")],
    ids=["least", "most", "huge", "nan", "inf", "-inf"],
)
def test_a_number_that_cannot_be_kept_is_refused(number: float) -> None:
    assert len(_refusals({"n": number})) == 1


def test_the_largest_numbers_that_can_be_kept_are_kept() -> None:
    assert _plain({"a": 2**53 - 1, "b": -(2**53) + 1, "c": 1e300}) == {"a": 2**53 - 1, "b": -(2**53) + 1, "c": 1e300}


def test_half_a_character_is_refused_in_values_and_keys() -> None:
    found = _refusals({"a": "x\ud800", "b\udfff": 1})
    assert [message for _, message, _ in found] == snapshot(
        [
            "a contains half of a character (a lone surrogate)",
            "the workflow contains half of a character (a lone surrogate)",
        ]
    )


def test_a_value_that_holds_itself_is_refused() -> None:
    steps: list[Any] = []
    workflow = Workflow("w", steps=steps)
    steps.append(Loop("l", until="x", max_iterations=2, steps=steps))
    assert [message for _, message, _ in _refusals(workflow)] == snapshot(["steps[0].steps contains itself"])


def test_the_same_value_in_two_places_is_no_recursion() -> None:
    budget = {"usd": 1}
    assert _plain({"a": budget, "b": [budget, budget]}) == {"a": budget, "b": [budget, budget]}


def _nested(levels: int) -> Any:
    value: Any = "end"
    for _ in range(levels):
        value = [value]
    return {"a": value}


def test_nesting_is_bounded_as_in_a_file() -> None:
    assert _plain(_nested(63)) == _nested(63)
    for levels in (64, 100_000):
        assert [message for _, message, _ in _refusals(_nested(levels))] == snapshot(
            ["the workflow is nested deeper than 64 levels"]
        )


def test_the_number_of_values_is_bounded_even_when_they_are_shared() -> None:
    value: Any = ["x"] * 10
    for _ in range(12):
        value = [value] * 10
    assert [message for _, message, _ in _refusals({"a": value})] == snapshot(
        ["the workflow contains more than 200,000 values"]
    )


def test_the_amount_of_text_is_bounded_even_when_it_is_shared() -> None:
    prompt = "x" * 200_000
    steps = [Agent(f"s{at}", prompt=prompt) for at in range(6)]
    assert _refusals(Workflow("w", steps=steps)) == snapshot(
        [(1, "the workflow contains more than 1 MiB of text", "move long prompts into files")]
    )
