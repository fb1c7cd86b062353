"""Assessments of WorkRail's workflows as named ones."""

from collections.abc import Callable

from inline_snapshot import snapshot

from handrail.authoring.importers import ImportedWorkflows
from handrail.model.workflow.values import JsonValue
from support.authoring.notes_shown import notes
from support.authoring.workrail_sources import import_steps, step, yaml_of


def gate(name: str, dimension: str, **keys: JsonValue) -> JsonValue:
    judged: JsonValue = {"id": dimension, "purpose": "How good", "levels": ["low", "high"], "required": False}
    return {"id": name, "purpose": f"About {name}.", "dimensions": [judged], **keys}


def leads_to(guidance: str, level: str = "low", **when: JsonValue) -> JsonValue:
    return {"when": {"anyEqualsLevel": level, **when}, "effect": {"kind": "require_followup", "guidance": guidance}}


def test_several_assessments_of_a_step_stay_several(problems: Callable[[ImportedWorkflows], list[str]]) -> None:
    judge = step("judge", assessmentRefs=["a", "b", "missing"], assessmentConsequences=[leads_to("Try again.")])
    declared: JsonValue = [gate("a", "soundness"), gate("b", "gaps", rationaleRequired=False), gate("c", "unused")]
    imported = import_steps([judge], assessments=declared)
    assert yaml_of(imported).partition("\n\n")[2].partition("\n\n")[2] == snapshot("""\
assessments:
  a:
    purpose: About a.
    dimensions:
      soundness:
        purpose: How good
        levels:
          - low
          - high
        required: false
    follow_up_when:
      - low
    guidance: Try again.
  b:
    purpose: About b.
    rationale: optional
    dimensions:
      gaps:
        purpose: How good
        levels:
          - low
          - high
        required: false
    follow_up_when:
      - low
    guidance: Try again.
  c:
    purpose: About c.
    dimensions:
      unused:
        purpose: How good
        levels:
          - low
          - high
        required: false

steps:
  - name: judge
    description: Judge
    prompt: prompts/10-judge.md
    assess:
      - a
      - b
    retry: 9
""")
    assert [note for note in notes(imported, "lost") if "assessment" in note] == snapshot(
        ["one.json:7 the assessment 'missing' is not declared"]
    )
    assert problems(imported) == []


def test_what_a_level_leads_to_may_differ_by_step_and_by_assessment(
    problems: Callable[[ImportedWorkflows], list[str]],
) -> None:
    first = step("first", assessmentRefs=["a", "b"], assessmentConsequences=[leads_to("Look at a.", forAssessment="a")])
    second = step("second", assessmentRefs=["a"], assessmentConsequences=[leads_to("Look twice.")])
    third = step("third", assessmentRefs=["b"])
    imported = import_steps([first, second, third], assessments=[gate("a", "soundness"), gate("b", "gaps")])
    text = yaml_of(imported)
    assert text.count("guidance: Look at a.") == text.count("guidance: Look twice.") == 1
    assert "    assess:\n      - a\n      - b\n    retry: 9\n" in text
    assert "    assess: a-second\n    retry: 9\n" in text
    assert text.endswith("    assess: b\n")
    assert any("so it is now the assessment 'a-second'" in note for note in notes(imported, "changed"))
    assert problems(imported) == []


def test_a_ready_made_assessment_keeps_its_name(problems: Callable[[ImportedWorkflows], list[str]]) -> None:
    imported = import_steps([step("judge", assessmentRefs=["wr.assessments.confidence"])])
    assert "    assess: wr.assessments.confidence\n" in yaml_of(imported)
    assert problems(imported) == []


def test_an_assessment_that_does_not_fit_is_named() -> None:
    odd: JsonValue = {
        "id": "1 Odd",
        "purpose": "p" * 300,
        "dimensions": [{"id": "x", "purpose": "p", "levels": ["a", "b"]}],
    }
    empty: JsonValue = {"id": "empty", "purpose": "p", "dimensions": []}
    imported = import_steps([step("one")], assessments=[odd, odd, empty])
    assert "assessments:\n  assessment-1-odd:\n" in yaml_of(imported)
    assert [note.partition(" ")[2] for note in notes(imported, "lost") if "WorkRail" not in note] == snapshot(
        [
            "the assessment '1 Odd' is declared twice; the second was left out",
            "the assessment 'empty' has no dimensions and was left out",
        ]
    )
    assert any("is now called 'assessment-1-odd'" in note for note in notes(imported, "changed"))
    assert any("cut to 256 characters" in note for note in notes(imported, "changed"))
