from collections.abc import Callable

import pytest
from inline_snapshot import snapshot

from handrail.authoring.importers import ImportedWorkflows
from handrail.model.workflow.values import JsonValue
from support.authoring.notes_shown import notes
from support.authoring.workrail_sources import Steps, import_steps, step, yaml_of


def test_a_variable_comes_from_the_step_that_names_it_first(problems: Callable[[ImportedWorkflows], list[str]]) -> None:
    steps: Steps = [
        step("triage", prompt="Set `size` and `risky`."),
        step("plan", runCondition={"var": "size", "not_equals": "Small"}, prompt="Plan."),
        step("build", runCondition={"and": [{"var": "risky", "equals": True}, {"var": "effort", "gte": 3}]}),
    ]
    imported = import_steps(steps)
    assert yaml_of(imported) == snapshot("""\
name: one
description: "One: d"

input:
  goal: string
  effort:
    type: number
    default: 0

steps:
  - name: triage
    description: Triage
    prompt: prompts/10-triage.md
    output: triage
    returns:
      size: string
      risky: bool

  - name: plan
    description: Plan
    when: triage.size != 'Small'
    session: continue
    prompt: prompts/20-plan.md

  - name: build
    description: Build
    when: triage.risky == true and effort >= 3
    session: continue
    prompt: prompts/30-build.md
""")
    assert problems(imported) == []


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"var": "a", "equals": "x"}, "when: t.a == 'x'\n"),
        ({"var": "a"}, "when: t.a\n"),
        ({"not": {"var": "a"}}, "when: not t.a\n"),
        ({"var": "a", "in": ["x", "y"]}, "when: t.a in ['x', 'y']\n"),
        ({"var": "a", "contains": "x"}, "when: \"'x' in t.a\"\n"),
        ({"var": "a", "startsWith": "x"}, "when: t.a | starts_with('x')\n"),
        ({"or": [{"var": "a", "lt": 1}, {"var": "a", "gt": 2}]}, "when: t.a < 1 or t.a > 2\n"),
        ({"var": "a", "equals": None}, "when: t.a | default(none) is none\n"),
        ({"var": "a", "equals": 1, "gt": 5}, "when: t.a == 1\n"),
        ({}, "when: true\n"),
        ({"var": "a", "matches": "x+"}, "when: false\n"),
        ({"var": "a", "equals": [1]}, "when: false\n"),
        ({"var": "a", "not_equals": []}, "when: true\n"),
    ],
)
def test_conditions_become_expressions(
    condition: JsonValue, expected: str, problems: Callable[[ImportedWorkflows], list[str]]
) -> None:
    imported = import_steps([step("t", prompt="Set a."), step("next", runCondition=condition)])
    assert expected in yaml_of(imported)
    assert problems(imported) == []


def test_a_condition_that_cannot_be_said_is_lost_by_name() -> None:
    imported = import_steps([step("one", runCondition={"var": "a", "matches": "x"})])
    assert any(
        "the runCondition cannot be translated (a regular expression)" in note for note in notes(imported, "lost")
    )


def test_confirmation_is_an_approval_before_the_step(problems: Callable[[ImportedWorkflows], list[str]]) -> None:
    condition: JsonValue = {"var": "level", "equals": "Low"}
    steps: Steps = [
        step("one", requireConfirmation=True, prompt="Choose the level."),
        step("two", requireConfirmation=condition, runCondition={"var": "level", "not_equals": "None"}),
        step("three", requireConfirmation={"var": "gaps", "equals": True}, prompt="Set gaps."),
        step("four", requireConfirmation={"kind": "human_approval", "condition": condition}),
        step("five", requireConfirmation=False),
    ]
    imported = import_steps(steps)
    assert yaml_of(imported) == snapshot("""\
name: one
description: "One: d"

input:
  goal: string

steps:
  - name: confirm-one
    type: approval
    message: "Confirm before this step: One"

  - name: one
    description: One
    prompt: prompts/10-one.md
    output: one
    returns:
      level: string

  - name: confirm-two
    type: approval
    when: (one.level != 'None') and (one.level == 'Low')
    message: "Confirm before this step: Two"

  - name: two
    description: Two
    when: one.level != 'None'
    session: continue
    prompt: prompts/20-two.md

  - name: three
    description: Three
    session: continue
    prompt: prompts/30-three.md
    output: three
    returns:
      gaps: bool

  - name: confirm-three
    type: approval
    when: three.gaps == true
    message: "Confirm after this step: Three"

  - name: confirm-four
    type: approval
    when: one.level == 'Low'
    message: "Confirm before this step: Four"

  - name: four
    description: Four
    session: continue
    prompt: prompts/40-four.md

  - name: five
    description: Five
    session: continue
    prompt: prompts/50-five.md
""")
    assert problems(imported) == []
