from typing import Any

import pytest

from handrail.model.workflow.guidance import Assessment, Consequence, Dimension
from support.compiler.workrail_building import builtins, compiled, loop, marked, step

READY = "wr.assessments.confidence"


def assessment(name: str = "evidence", *levels: str, **keys: Any) -> dict[str, Any]:
    dimension = {"id": "grounding", "purpose": "Is it grounded?", "levels": list(levels or ("low", "high"))}
    return {"id": name, "purpose": "Judge it.", "dimensions": [dimension], **keys}


def consequence(level: str = "low", **when: str) -> dict[str, Any]:
    effect = {"kind": "require_followup", "guidance": "Look again."}
    return {"when": {"anyEqualsLevel": level, **when}, "effect": effect}


def test_an_assessment_is_declared_with_its_dimensions() -> None:
    dimension = Dimension("grounding", "Is it grounded?", ("low", "high"))
    assert compiled(assessments=[assessment()]).made.assessments == (Assessment("evidence", "Judge it.", (dimension,)),)


def test_a_reason_may_be_left_to_the_agent() -> None:
    result = compiled(assessments=[assessment(rationaleRequired=False)])
    assert result.made.assessments[0].rationale_required is False


def test_a_dimension_may_be_left_out_if_it_says_so() -> None:
    dimension = {"id": "grounding", "purpose": "p", "levels": ["a", "b"], "required": False}
    result = compiled(assessments=[{**assessment(), "dimensions": [dimension]}])
    assert result.made.assessments[0].dimensions[0].required is False


def test_a_step_refers_to_assessments_in_its_order() -> None:
    both = [assessment("first-one"), assessment("second-one")]
    result = compiled(step(assessmentRefs=["second-one", "first-one"]), assessments=both)
    assert result.action().assessments == ("second-one", "first-one")


def test_a_ready_made_assessment_becomes_part_of_the_workflow() -> None:
    result = compiled(step(assessmentRefs=[READY]))
    assert result.action().assessments == (READY,)
    assert result.made.assessments == (builtins().assessment(READY),)


def test_a_ready_made_assessment_in_a_loop_is_added_once() -> None:
    inner = loop(body=[step("inner-step", assessmentRefs=[READY])], condition={})
    result = compiled(step(assessmentRefs=[READY]), inner)
    assert [each.id for each in result.made.assessments] == [READY]


def test_an_undeclared_assessment_is_refused() -> None:
    result = compiled(step(assessmentRefs=["evidense"]), assessments=[assessment()])
    assert (result.only.code, result.only.message) == (
        "unknown-assessment",
        "unknown assessment 'evidense', did you mean 'evidence'?",
    )
    assert READY in (result.only.hint or "")
    assert marked(result.only) == '"evidense"'


def test_consequences_are_kept_in_their_order() -> None:
    result = compiled(
        step(assessmentRefs=["evidence"], assessmentConsequences=[consequence(), consequence("high")]),
        assessments=[assessment()],
    )
    assert result.action().consequences == (Consequence("low", "Look again."), Consequence("high", "Look again."))


def test_a_consequence_may_look_at_one_assessment_only() -> None:
    both = [assessment("first-one", "low", "high"), assessment("second-one", "bad", "good")]
    mine = step(
        assessmentRefs=["first-one", "second-one"],
        assessmentConsequences=[consequence("bad", forAssessment="second-one")],
    )
    assert compiled(mine, assessments=both).action().consequences == (Consequence("bad", "Look again.", "second-one"),)


def test_a_level_of_another_assessment_does_not_count() -> None:
    both = [assessment("first-one", "low", "high"), assessment("second-one", "bad", "good")]
    mine = step(
        assessmentRefs=["first-one", "second-one"],
        assessmentConsequences=[consequence("bad", forAssessment="first-one")],
    )
    result = compiled(mine, assessments=both)
    assert (result.codes, result.only.hint) == (["unknown-level"], "its levels: low, high")


def test_a_consequence_for_an_assessment_the_step_does_not_give_is_refused() -> None:
    both = [assessment("first-one"), assessment("second-one")]
    mine = step(assessmentRefs=["first-one"], assessmentConsequences=[consequence("low", forAssessment="second-one")])
    result = compiled(mine, assessments=both)
    assert (result.codes, marked(result.only)) == (["unknown-assessment"], '"second-one"')


def test_a_level_that_no_dimension_has_is_refused() -> None:
    mine = step(assessmentRefs=["evidence"], assessmentConsequences=[consequence("Low")])
    result = compiled(mine, assessments=[assessment()])
    assert result.only.message == "no dimension has the level 'Low', did you mean 'low'?"
    assert marked(result.only) == '"Low"'


def test_two_consequences_with_one_trigger_are_refused() -> None:
    mine = step(assessmentRefs=["evidence"], assessmentConsequences=[consequence(), consequence()])
    assert compiled(mine, assessments=[assessment()]).codes == ["duplicate-consequence"]


def test_one_level_may_have_a_consequence_for_all_and_one_for_an_assessment() -> None:
    mine = step(
        assessmentRefs=["evidence"],
        assessmentConsequences=[consequence(), consequence(forAssessment="evidence")],
    )
    assert compiled(mine, assessments=[assessment()]).codes == []


def test_a_consequence_without_an_assessment_is_refused() -> None:
    result = compiled(step(assessmentConsequences=[consequence()]), assessments=[assessment()])
    assert (result.codes, marked(result.only)) == (["consequence-alone"], '"assessmentConsequences"')


def test_ten_consequences_are_allowed_and_eleven_are_not() -> None:
    levels = [f"level-{number}" for number in range(11)]
    declared = [assessment("evidence", *levels)]

    def result(count: int) -> list[str]:
        mine = step(assessmentRefs=["evidence"], assessmentConsequences=[consequence(each) for each in levels[:count]])
        return compiled(mine, assessments=declared).codes

    assert (result(10), result(11)) == ([], ["bad-value"])


@pytest.mark.parametrize(
    "twice", [[assessment(), assessment()], [{**assessment(), "dimensions": 2 * assessment()["dimensions"]}]]
)
def test_an_assessment_or_a_dimension_that_stands_twice_is_refused(twice: list[Any]) -> None:
    assert compiled(assessments=twice).codes == ["duplicate-assessment"]
