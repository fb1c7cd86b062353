from collections.abc import Callable

from inline_snapshot import snapshot

from handrail.authoring.importers import ImportedWorkflows
from handrail.model.workflow.values import JsonValue
from support.authoring.notes_shown import notes, page
from support.authoring.workrail_sources import Steps, import_steps, step, yaml_of


def test_a_prompt_is_rendered_in_sections(problems: Callable[[ImportedWorkflows], list[str]]) -> None:
    design: dict[str, JsonValue] = {
        "id": "design",
        "title": "Design",
        "agentRole": "You are a careful designer.",
        "promptBlocks": {
            "goal": "Choose {{unknownThing}}.",
            "constraints": ["Keep it small", [{"kind": "ref", "refId": "wr.refs.memory_usage"}]],
            "procedure": ["Look", "Think"],
            "outputRequired": {"notesMarkdown": "why"},
            "verify": ["It holds"],
        },
        "guidance": ["Ask early"],
        "functionReferences": ["sketch()"],
        "askForFiles": True,
        "promptFragments": [
            {"id": "always", "text": "Always this."},
            {"id": "deep", "when": {"var": "depth", "equals": "Full"}, "text": "Go deep, with {% raw %} braces."},
        ],
    }
    functions: JsonValue = [{"name": "sketch", "definition": "Draw it."}]
    steps: Steps = [step("triage", prompt="Set depth."), design]
    imported = import_steps(steps, functionDefinitions=functions, metaGuidance=["Stay calm"], preconditions=["A repo"])
    assert imported.files["one/prompts/30-design.md"] == snapshot("""\
Goal of this run: {{ goal }}

## Goal

Choose {% raw %}{{unknownThing}}{% endraw %}.

## Constraints

- Keep it small
- (see wr.refs.memory_usage)

## Procedure

1. Look
2. Think

## Output Required

- **notesMarkdown**: why

## Verify

- It holds

## Guidance

- Ask early

Ask for the files you need before you start.

## Functions

- `sketch()`: Draw it.

Always this.

{% if triage.depth == 'Full' %}
{% raw %}Go deep, with {% raw %} braces.{% endraw %}
{% endif %}
""")
    assert imported.files["one/prompts/10-ground-rules.md"] == snapshot("""\
## What must be true before the work starts

- A repo
""")
    assert page(imported, "lost") == snapshot("""\
lost one.json:17
  `{{unknownThing}}` is not known before this step; it was kept as plain text
lost one.json:21
  the text of the reference 'wr.refs.memory_usage' is not available; write it in the prompt
""")
    assert problems(imported) == []


def test_validation_becomes_proof_where_it_can_be_said(problems: Callable[[ImportedWorkflows], list[str]]) -> None:
    rules: JsonValue = [
        {"type": "contains", "value": "done = true", "message": "Must say done"},
        {"type": "length", "min": 10, "max": 500, "message": "Not too short"},
        {"type": "regex", "pattern": "x+", "message": "Must match"},
    ]
    imported = import_steps([step("one", validationCriteria=rules)])
    assert yaml_of(imported).partition("done_when:")[2] == snapshot("""\

      - expect: "'done = true' in one"
      - expect: one | length >= 10 and one | length <= 500
""")
    assert imported.files["one/prompts/10-one.md"].partition("## ")[2] == snapshot("""\
What the result must show

- Must say done
- Not too short
- Must match
""")
    assert any("the type 'regex' (\"Must match\")" in note for note in notes(imported, "lost"))
    assert problems(imported) == []


def test_a_template_is_used_in_its_place(problems: Callable[[ImportedWorkflows], list[str]]) -> None:
    call: JsonValue = {"templateId": "wr.templates.routine.design-review", "args": {"deliverableName": "review.md"}}
    imported = import_steps([step("zero"), {"id": "review", "title": "Review", "templateCall": call}])
    assert "    use: wr.templates.routine.design-review\n    input:\n      deliverableName: review.md\n" in yaml_of(
        imported
    )
    assert problems(imported) == []


def test_delegations_run_one_after_the_other() -> None:
    parallel: dict[str, JsonValue] = {
        "id": "fan",
        "type": "parallel",
        "title": "Fan out",
        "parallelDelegations": [
            {"workflowId": "wr.research", "goal": "Look"},
            {"workflowId": "wr.other", "modelTier": "mid"},
        ],
        "synthesis": {"prompt": "Bring it together."},
    }
    imported = import_steps([parallel])
    assert yaml_of(imported).partition("steps:")[2] == snapshot("""\

  - name: fan-1
    workflow: wr.research
    input:
      goal: Look

  - name: fan-2
    workflow: wr.other
    input:
      goal: ${goal}

  - name: fan
    description: Fan out
    prompt: prompts/10-fan.md
""")
    assert any("'modelTier' of a delegation" in note for note in notes(imported, "lost"))


def test_what_has_no_place_is_named() -> None:
    imported = import_steps(
        [step("one", hasValidation=True, notesOptional=True)],
        tags=["x"],
        recommendedPreferences={"recommendedAutonomy": "guided"},
        about="At length.",
        examples=["Do something useful"],
        surprise=1,
    )
    assert page(imported, "lost") == snapshot("""\
lost one.json:11
  the key 'hasValidation' of a step was left out: it has no meaning in WorkRail either
lost one.json:12
  the key 'notesOptional' of a step was left out: notes are not required in Handrail;
  `returns` asks for a result
lost one.json:15
  the key 'tags' was left out: `labels` choose workflows for issues and mean something else
lost one.json:18
  the key 'recommendedPreferences' was left out: use `access` and approval steps to limit
  what an agent does on its own
lost one.json:25
  the key 'surprise' was left out: it has no counterpart
""")
    assert imported.files["one/README.md"] == snapshot("""\
# One

At length.

Translated from version 1.0.0.

Example goals:

- Do something useful
""")


def test_the_file_may_also_run_unchanged() -> None:
    assert any("also runs unchanged" in note for note in notes(import_steps([step("one")]), "translated"))
