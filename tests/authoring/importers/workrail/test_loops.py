"""Loops of WorkRail's workflows as native ones."""

import json
from collections.abc import Callable

from inline_snapshot import snapshot

from handrail.authoring.importers import ImportedWorkflows, import_files
from handrail.model.workflow.values import JsonValue
from support.authoring.workrail_sources import Steps, import_steps, step, yaml_of


def test_loops_keep_their_kind(problems: Callable[[ImportedWorkflows], list[str]]) -> None:
    steps: Steps = [
        step("find", prompt="Set `slices` and `tries` and `status`."),
        {
            "id": "each",
            "type": "loop",
            "title": "Each",
            "loop": {"type": "forEach", "items": "slices", "itemVar": "slice", "indexVar": "at", "maxIterations": 9},
            "body": [step("work", prompt="Do {{slice.name}} ({{at}}).")],
        },
        {
            "id": "count",
            "type": "loop",
            "title": "Count",
            "loop": {"type": "for", "count": "tries", "iterationVar": "attempt", "maxIterations": 3},
            "body": [step("attempt-it", prompt="Attempt {{attempt}} of {{tries}}.")],
        },
        {
            "id": "poll",
            "type": "loop",
            "title": "Poll",
            "loop": {"type": "while", "condition": {"var": "status", "not_equals": "done"}, "maxIterations": 5},
            "body": "check",
        },
        step("check", prompt="Check, then set status."),
        {
            "id": "decide",
            "type": "loop",
            "title": "Decide",
            "loop": {
                "type": "while",
                "conditionSource": {"kind": "artifact_contract", "contractRef": "wr.contracts.loop_control"},
                "maxIterations": 4,
            },
            "body": [step("judge", outputContract={"contractRef": "wr.contracts.loop_control"})],
        },
    ]
    imported = import_steps(steps)
    assert yaml_of(imported) == snapshot("""\
name: one
description: "One: d"

input:
  goal: string

steps:
  - name: find
    description: Find
    prompt: prompts/10-find.md
    output: find
    returns:
      slices: list
      tries: number
      status: string

  - name: each
    type: loop
    description: Each
    for_each: ${find.slices}
    as: slice
    max_iterations: 9
    steps:
      - name: work
        description: Work
        session: continue
        prompt: prompts/20-work.md

  - name: count
    type: loop
    description: Count
    for: find.tries
    max_iterations: 3
    steps:
      - name: attempt-it
        description: Attempt-It
        session: continue
        prompt: prompts/30-attempt-it.md

  - name: poll
    type: loop
    description: Poll
    while: check.status | default(find.status) != 'done'
    max_iterations: 5
    steps:
      - name: check
        description: Check
        session: continue
        prompt: prompts/40-check.md
        output: check
        returns:
          status: string

  - name: decide
    type: loop
    description: Decide
    until: judge.decision == 'stop'
    max_iterations: 4
    steps:
      - name: judge
        description: Judge
        session: continue
        prompt: prompts/50-judge.md
        output: judge
        returns: wr.contracts.loop_control
""")
    assert imported.files["one/prompts/20-work.md"] == snapshot("""\
Goal of this run: {{ goal }}

Do {{ slice.name }} ({{ round - 1 }}).
""")
    assert imported.files["one/prompts/30-attempt-it.md"] == snapshot("""\
Goal of this run: {{ goal }}

Attempt {{ round }} of {{ find.tries }}.
""")
    assert problems(imported) == []


def test_details_of_functions_and_loop_ids_are_named_when_they_are_left_out() -> None:
    function = {"name": "f", "definition": "do f", "scope": "step", "parameters": [{"name": "a", "type": "string"}]}
    first = {
        "id": "one",
        "title": "One",
        "prompt": "x",
        "functionDefinitions": [function],
        "functionCalls": [{"name": "f", "args": {"a": 1}}],
    }
    loop = {
        "id": "two",
        "type": "loop",
        "title": "Two",
        "loop": {
            "type": "while",
            "maxIterations": 2,
            "conditionSource": {
                "kind": "artifact_contract",
                "contractRef": "wr.contracts.loop_control",
                "loopId": "two",
            },
        },
        "body": [step("body-step", outputContract={"contractRef": "wr.contracts.loop_control"})],
    }
    source = {"id": "wf-a", "name": "A", "description": "d", "version": "1.0.0", "steps": [first, loop]}
    made = import_files({"a.json": json.dumps(source)})
    messages = [note.message for note in made.notes if note.severity == "lost"]
    for expected in (
        "'parameters' in 'functionDefinitions' was left out",
        "'scope' in 'functionDefinitions' was left out",
        "'args' in 'functionCalls' was left out",
        "'loopId' in 'conditionSource' was left out",
    ):
        assert expected in messages


def test_a_round_ends_where_its_loop_is_decided(problems: Callable[[ImportedWorkflows], list[str]]) -> None:
    by_artifact: JsonValue = {"kind": "artifact_contract", "contractRef": "wr.contracts.loop_control"}
    control: JsonValue = {"contractRef": "wr.contracts.loop_control"}
    decided: dict[str, JsonValue] = {
        "id": "decide",
        "type": "loop",
        "title": "Decide",
        "loop": {"type": "while", "conditionSource": by_artifact, "maxIterations": 4},
        "body": [step("judge", outputContract=control), step("repair")],
    }
    polled: dict[str, JsonValue] = {
        "id": "poll",
        "type": "loop",
        "title": "Poll",
        "loop": {"type": "until", "condition": {"var": "status", "equals": "done"}, "maxIterations": 5},
        "body": [step("check", prompt="Set status."), step("wait", runCondition={"var": "size", "equals": "big"})],
    }
    imported = import_steps([step("find", prompt="Find the size."), decided, polled])
    text = yaml_of(imported)
    assert "    until: judge.decision == 'stop'\n" in text
    assert "        when: judge.decision != 'stop'\n" in text
    assert "    while: check.status | default('') != 'done'\n" in text
    assert "        when: (find.size == 'big') and (check.status | default('') != 'done')\n" in text
    assert problems(imported) == []
