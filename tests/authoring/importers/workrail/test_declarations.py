"""What guides a whole WorkRail-style workflow, under its native keys."""

from collections.abc import Callable

from inline_snapshot import snapshot

from handrail.authoring.importers import ImportedWorkflows
from handrail.model.workflow.values import JsonValue
from support.authoring.notes_shown import notes, page
from support.authoring.workrail_sources import Steps, import_steps, step, yaml_of

REFERENCE: dict[str, JsonValue] = {
    "id": "rubric",
    "title": "Rubric",
    "source": "./docs/rubric.md",
    "purpose": "What counts.",
    "authoritative": True,
    "resolveFrom": "package",
}
SLOT: dict[str, JsonValue] = {
    "slotId": "review",
    "purpose": "How it is reviewed.",
    "default": "routine-design-review",
    "acceptedKinds": ["routine"],
}


def test_what_guides_a_workflow_has_native_keys(problems: Callable[[ImportedWorkflows], list[str]]) -> None:
    steps: Steps = [
        step("one", prompt="Run {{wr.bindings.review}} and {{wr.bindings.other}}.", agentRole="Be {{sharp}}."),
        {"id": "two", "title": "Two", "promptBlocks": {"goal": "A plan."}},
    ]
    imported = import_steps(
        steps,
        agentRole="You are careful.",
        metaGuidance=["Stay calm", "Be brief"],
        references=[REFERENCE],
        features=["wr.features.durable_recap", {"id": "wr.features.mode_guidance", "config": {"autonomy": "guided"}}],
        capabilities={"delegation": "preferred", "required": ["web_browsing"]},
        extensionPoints=[SLOT],
    )
    assert yaml_of(imported) == snapshot("""\
name: one
description: "One: d"

input:
  goal: string

defaults:
  role: You are careful.

guidance:
  - Stay calm
  - Be brief

references:
  - id: rubric
    title: Rubric
    source: ./docs/rubric.md
    purpose: What counts.
    authoritative: true
    resolve_from: package

features:
  - wr.features.durable_recap
  - id: wr.features.mode_guidance
    config:
      autonomy: guided

capabilities:
  delegation: preferred
  required:
    - web_browsing

extension_points:
  review:
    default: routine-design-review
    purpose: How it is reviewed.
    accepts:
      - routine

steps:
  - name: one
    description: One
    role: Be {{sharp}}.
    prompt: prompts/10-one.md

  - name: two
    description: Two
    session: continue
    prompt: prompts/20-two.md
""")
    text = imported.files["one/prompts/10-one.md"]
    assert text.endswith("Run {{ bindings.review }} and {% raw %}{{wr.bindings.other}}{% endraw %}.\n")
    assert page(imported, "lost") == snapshot("""\
lost one.json:10
  `{{wr.bindings.other}}` is not known before this step; it was kept as plain text
""")
    assert [note for note in notes(imported, "changed") if "features" in note] == snapshot(
        ["one.json:36 features are added to every prompt; WorkRail adds them only to prompt blocks, so not to one"]
    )
    assert problems(imported) == []


def test_what_does_not_fit_is_left_out_and_named(problems: Callable[[ImportedWorkflows], list[str]]) -> None:
    imported = import_steps(
        [step("one")],
        metaGuidance=["x" * 300, "Be brief", "Be brief"],
        references=[REFERENCE, REFERENCE, {"id": "Bad Id", "title": "t"}],
        features=[7],
        capabilities={"delegation": "sometimes"},
        extensionPoints=[SLOT, SLOT, {"slotId": "No", "default": "x"}],
    )
    lost = [note.partition(" ")[2] for note in notes(imported, "lost")]
    assert [note for note in lost if "left out" in note] == snapshot(
        [
            "an entry of 'metaGuidance' was left out: rule has 300 characters, the maximum is 256",
            "the reference 'rubric' is declared twice; the second was left out",
            "an entry of 'references' was left out: 'Bad Id' is not a valid reference id",
            "an entry of 'features' was left out: expected text or a map for a feature, got a number",
            "an entry of 'capabilities' was left out: 'sometimes' is not allowed here",
            "the slot 'review' is declared twice; the second was left out",
            "an entry of 'extensionPoints' was left out: 'No' is not a valid extension point",
        ]
    )
    assert "guidance:\n  - Be brief\n\nreferences:" in yaml_of(imported)
    assert problems(imported) == []


def test_a_contract_is_the_type_of_the_result(problems: Callable[[ImportedWorkflows], list[str]]) -> None:
    contract: JsonValue = {"contractRef": "wr.contracts.review_verdict"}
    imported = import_steps([step("judge", outputContract=contract)])
    assert yaml_of(imported).endswith("    output: judge\n    returns: wr.contracts.review_verdict\n")
    assert problems(imported) == []


def test_a_contract_beside_variables_is_lost_by_name(problems: Callable[[ImportedWorkflows], list[str]]) -> None:
    judge = step("judge", prompt="Set size.", outputContract={"contractRef": "wr.contracts.review_verdict"})
    imported = import_steps([judge, step("next", runCondition={"var": "size", "equals": "big"})])
    assert any("'wr.contracts.review_verdict' was left out" in note for note in notes(imported, "lost"))
    assert problems(imported) == []
