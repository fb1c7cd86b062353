"""What a performer gives back: it completes the step, or it is refused as data."""

from typing import Any

import pytest
from inline_snapshot import snapshot

from handrail.engine.decide.complete_guided import Completion, Submission, complete_guided, loop_control, truncate_notes
from handrail.errors import UsageError
from handrail.model.history.events import ContextMerged, StepEnded, StepRefused
from handrail.model.workflow.values import JsonValue
from support.engine.guided_walking import GuidedWalk, Json, control, guided_plan, step, var

RISK: Json = {
    "id": "risk-check",
    "purpose": "How risky is it?",
    "dimensions": [
        {"id": "scope", "purpose": "How wide", "levels": ["low", "high"]},
        {"id": "proof", "purpose": "How proven", "levels": ["weak", "strong"], "required": False},
    ],
    "rationaleRequired": False,
}
FOLLOW_UP: Json = {
    "when": {"anyEqualsLevel": "high"},
    "effect": {"kind": "require_followup", "guidance": "Cut the scope."},
}
ASSESSED: Json = {"assessmentRefs": ["risk-check"], "assessmentConsequences": [FOLLOW_UP]}
VERDICT: Json = {"outputContract": {"contractRef": "wr.contracts.gate_verdict"}}


def begun(*steps: Json, **keys: Any) -> GuidedWalk:
    return GuidedWalk(guided_plan(*steps, **keys)).start().settle()


def given(walk: GuidedWalk, notes: str = "done", *artifacts: JsonValue, **context: JsonValue) -> Completion:
    return walk.give(Submission(by="me", notes=notes, artifacts=artifacts, context=context))


def codes(done: Completion) -> list[str]:
    return [each.code for each in done.shortfalls]


def risk(**levels: JsonValue) -> JsonValue:
    return {"kind": "wr.assessment", "dimensions": levels}


def test_notes_complete_a_step() -> None:
    walk = begun(step("one"))
    done = given(walk, "Found it.")
    assert not done.is_refused
    assert isinstance(done.events[0], StepEnded)
    assert walk.settle().state.status == "succeeded"


@pytest.mark.parametrize("notes", ["", "  \n\t"])
def test_blank_notes_are_missing_notes(notes: str) -> None:
    walk = begun(step("one"))
    done = given(walk, notes)
    assert codes(done) == ["missing_notes"]
    assert isinstance(done.events[0], StepRefused)


def test_notes_may_be_left_out_where_the_step_says_so_or_has_a_contract() -> None:
    assert not given(begun(step("one", notesOptional=True)), "").is_refused
    verdict: JsonValue = {
        "kind": "wr.gate_verdict",
        "version": 1,
        "verdict": "approved",
        "confidence": "high",
        "rationale": "every check of the list was run and passed",
    }
    assert not given(begun(step("one", **VERDICT)), "", verdict).is_refused


def test_a_refused_step_is_pending_under_a_new_number_and_nothing_advances() -> None:
    walk = begun(step("one"), step("two"))
    before = walk.state.pending
    given(walk, "")
    after = walk.settle().state.pending
    assert before is not None
    assert after is not None
    assert (after.address, after.attempt) == ("one", 2)
    assert after.seq == len(walk.events) > before.seq
    with pytest.raises(UsageError, match="is not the pending one"):
        complete_guided(walk.plan, walk.state, before.seq, Submission(by="me", notes="late"), 1.0)
    assert not given(walk, "better").is_refused


def test_the_context_of_a_refused_call_is_kept() -> None:
    walk = begun(step("one"), step("two", prompt="{{x}}"))
    done = given(walk, "", x="kept")
    assert [type(event) for event in done.events] == [ContextMerged, StepRefused]
    given(walk, "now with notes")
    assert walk.settle().spec["prompt"] == "`kept`"


def test_a_refusal_says_what_is_missing_how_it_looks_and_what_was_sent() -> None:
    walk = begun(step("one", **VERDICT))
    done = given(walk, "", {"kind": "wr.other"})
    shortfall = done.shortfalls[0]
    assert (shortfall.code, shortfall.about, shortfall.sent) == (
        "missing_output",
        "wr.contracts.gate_verdict",
        ["wr.other"],
    )
    assert shortfall.message == snapshot("an artifact of kind wr.gate_verdict is missing")
    assert shortfall.fix == snapshot(
        "send an artifact of kind wr.gate_verdict that matches the schema, as in the example"
    )
    assert isinstance(shortfall.schema, dict)
    assert not given(walk, "", shortfall.example).is_refused


def test_an_invalid_artifact_is_told_with_every_place_that_is_wrong() -> None:
    walk = begun(step("one", **VERDICT))
    done = given(walk, "", {"kind": "wr.gate_verdict", "version": 2, "verdict": "fine", "odd": 1, "rationale": "short"})
    assert codes(done) == ["invalid_output"]
    assert done.shortfalls[0].message.split("; ") == [
        "the artifact wr.gate_verdict is not valid: odd is not allowed here",
        "confidence is missing",
        "version must be 1, got 2",
        "verdict must be one of 'approved', 'rejected', 'uncertain', got 'fine'",
        "rationale must have at least 20 characters",
    ]


def test_of_several_artifacts_one_that_fits_is_enough() -> None:
    walk = begun(step("one", **VERDICT))
    example = walk.spec["contract"]["example"]
    assert not given(walk, "", example, {"kind": "wr.gate_verdict"}).is_refused


def test_an_artifact_that_is_not_required_may_be_left_out_but_not_be_wrong() -> None:
    optional = {"outputContract": {"contractRef": "wr.contracts.gate_verdict", "required": False}}
    assert not given(begun(step("one", **optional)), "").is_refused
    assert codes(given(begun(step("one", **optional)), "", {"kind": "wr.gate_verdict"})) == ["invalid_output"]


def test_a_contract_does_not_hide_a_missing_assessment() -> None:
    walk = begun(step("one", **ASSESSED, **VERDICT), assessments=[RISK])
    done = given(walk, "", walk.spec["contract"]["example"])
    assert codes(done) == ["missing_assessment"]
    assert codes(given(walk, "")) == ["missing_output", "missing_assessment"]


def test_everything_that_falls_short_is_told_at_once() -> None:
    rules = [{"type": "contains", "value": "DONE", "message": "say DONE"}]
    walk = begun(step("one", validationCriteria=rules, **ASSESSED), assessments=[RISK])
    assert codes(given(walk, "")) == ["missing_assessment", "validation_failed", "missing_notes"]


def test_levels_are_taken_as_the_assessment_writes_them() -> None:
    walk = begun(step("one", **ASSESSED), assessments=[RISK])
    assert not given(walk, "done", risk(scope=" LOW ", proof={"level": "strong", "rationale": "tests"})).is_refused
    output: Any = walk.state.steps["one"].output
    assert output["assessments"] == {
        "risk-check": {
            "scope": {"level": "low", "rationale": "", "normalized": True, "written": " LOW "},
            "proof": {"level": "strong", "rationale": "tests", "normalized": False},
        }
    }


@pytest.mark.parametrize(
    ("artifact", "message"),
    [
        (risk(scope="huge"), "the level of 'scope' must be one of low, high, got 'huge'"),
        (risk(proof="weak"), "the dimension 'scope' is missing; give one of low, high"),
        (risk(scope=3), "the level of 'scope' must be one of low, high, got 3"),
        (risk(scope="low", taste="good"), "unknown dimension 'taste'"),
        (
            risk(scope={"level": "low", "rationale": "x" * 513}),
            "the rationale of 'scope' must be text of at most 512 characters",
        ),
        ({"kind": "wr.assessment"}, "'dimensions' of 'risk-check' must be a map of levels"),
        ({"kind": "wr.assessment", "dimensions": {"scope": "low"}, "odd": 1}, "unknown key 'odd' in an assessment"),
        (
            {"kind": "wr.assessment", "assessmentId": "other", "dimensions": {"scope": "low"}},
            "the assessment must be 'risk-check', got 'other'",
        ),
    ],
)
def test_an_assessment_that_is_not_in_order_is_refused(artifact: JsonValue, message: str) -> None:
    done = given(begun(step("one", **ASSESSED), assessments=[RISK]), "done", artifact)
    assert codes(done) == ["invalid_assessment"]
    assert done.shortfalls[0].message == message
    assert done.shortfalls[0].sent == artifact


def test_a_level_needs_its_reason_where_the_assessment_asks_for_it() -> None:
    strict = {**RISK, "rationaleRequired": True}
    walk = begun(step("one", **ASSESSED), assessments=[strict])
    assert done_message(given(walk, "done", risk(scope="low"))) == "the level of 'scope' needs a reason, as 'rationale'"
    assert not given(walk, "done", risk(scope={"level": "low", "rationale": "one file"})).is_refused


def done_message(done: Completion) -> str:
    return done.shortfalls[0].message


def test_of_several_assessments_each_is_found_by_its_id() -> None:
    other = {**RISK, "id": "other-check"}
    both = step("one", assessmentRefs=["risk-check", "other-check"])
    walk = begun(both, assessments=[RISK, other])
    one: JsonValue = {"kind": "wr.assessment", "assessmentId": "other-check", "dimensions": {"scope": "low"}}
    done = given(walk, "done", one, risk(scope="low"))
    assert [(each.code, each.about) for each in done.shortfalls] == [("missing_assessment", "risk-check")]


def test_a_level_with_a_consequence_keeps_the_step_pending_until_a_better_one_is_given() -> None:
    walk = begun(step("one", **ASSESSED), step("two"), assessments=[RISK])
    done = given(walk, "done", risk(scope="High"))
    assert codes(done) == ["follow_up"]
    assert (done.shortfalls[0].message, done.shortfalls[0].fix, done.shortfalls[0].about) == snapshot(
        ("'scope' of 'risk-check' is high: Cut the scope.", "Cut the scope.", "risk-check.scope")
    )
    assert walk.settle().performed == ["one"]
    assert not given(walk, "done", risk(scope="low")).is_refused
    assert walk.settle().performed == ["one", "two"]


def test_a_step_may_have_several_consequences_each_with_its_own_advice() -> None:
    weak: Json = {
        "when": {"anyEqualsLevel": "weak"},
        "effect": {"kind": "require_followup", "guidance": "Write a test."},
    }
    several: Json = {"assessmentRefs": ["risk-check"], "assessmentConsequences": [FOLLOW_UP, weak]}
    walk = begun(step("one", **several), step("two"), assessments=[RISK])
    advice = [
        [each.fix for each in given(walk, "done", risk(**levels)).shortfalls]
        for levels in ({"scope": "high"}, {"scope": "low", "proof": "weak"}, {"scope": "high", "proof": "weak"})
    ]
    assert advice == [["Cut the scope."], ["Write a test."], ["Cut the scope.", "Write a test."]]
    assert not given(walk, "done", risk(scope="low", proof="strong")).is_refused


def test_a_consequence_may_look_at_one_assessment_only() -> None:
    other = {**RISK, "id": "other-check"}
    only = {"when": {"anyEqualsLevel": "high", "forAssessment": "other-check"}, "effect": FOLLOW_UP["effect"]}
    both = step("one", assessmentRefs=["risk-check", "other-check"], assessmentConsequences=[only])
    walk = begun(both, assessments=[RISK, other])
    mine: Json = {"kind": "wr.assessment", "assessmentId": "risk-check", "dimensions": {"scope": "high"}}
    theirs: Json = {"kind": "wr.assessment", "assessmentId": "other-check", "dimensions": {"scope": "high"}}
    assert codes(given(walk, "done", mine, theirs)) == ["follow_up"]
    assert not given(walk, "done", mine, {**theirs, "dimensions": {"scope": "low"}}).is_refused


LONG = {"type": "length", "min": 3, "max": 5, "message": "three to five"}
HAS_A = {"type": "contains", "value": "A", "message": "an A"}
NUMBER = {"type": "regex", "pattern": "^\\d+$", "flags": "m", "message": "a number"}
AS_JSON = {"type": "schema", "schema": {"type": "object", "required": ["a"]}, "message": "an object with a"}


@pytest.mark.parametrize(
    ("criteria", "notes", "told"),
    [
        ([HAS_A], "an A", []),
        ([HAS_A], "an a", ["an A"]),
        ([LONG], "ab", ["three to five"]),
        ([LONG], "abcdef", ["three to five"]),
        ([LONG, HAS_A], "x", ["three to five", "an A"]),
        ([NUMBER], "x\n12\ny", []),
        ([NUMBER], "x12", ["a number"]),
        ([AS_JSON], '{"a": 1}', []),
        ([AS_JSON], "no json", ["an object with a"]),
        ({"or": [HAS_A, NUMBER]}, "12", []),
        ({"or": [HAS_A, NUMBER]}, "x", ["an A", "a number"]),
        ({"not": HAS_A}, "A", ["an A"]),
        ({"not": HAS_A}, "b", []),
        ({"not": {"and": [HAS_A, LONG]}}, "AAA", ["the notes match a rule that must not match"]),
        ([{**HAS_A, "condition": var("strict")}], "b", []),
        ({"not": {**HAS_A, "condition": var("strict")}}, "A", []),
    ],
)
def test_notes_are_held_against_the_criteria(criteria: Any, notes: str, told: list[str]) -> None:
    done = given(begun(step("one", validationCriteria=criteria)), notes)
    assert [each.message for each in done.shortfalls] == told


def test_a_rule_applies_once_its_condition_holds() -> None:
    walk = begun(step("one", validationCriteria=[{**HAS_A, "condition": var("strict")}]))
    assert codes(given(walk, "b", strict=True)) == ["validation_failed"]


def test_notes_are_cut_at_a_whole_character() -> None:
    assert truncate_notes("x" * 4096) == "x" * 4096
    cut = truncate_notes("x" * 8000)
    assert (len(cut.encode()), cut.endswith("\n\n[TRUNCATED]")) == (4096, True)
    for text in ("é" * 4000, "x" + "é" * 4000, "\U0001f600" * 2000, "\ud800" * 5000):
        assert 4090 <= len(truncate_notes(text).encode()) <= 4096


def test_only_a_loop_control_in_order_counts() -> None:
    assert loop_control((control("stop"),)) == "stop"
    assert loop_control((control("stop"), control("halt"), "text", {"kind": "other"})) == "stop"
    assert loop_control((control("stop", extra=1),)) == ""
