from typing import Any

import pytest

from handrail.model.workflow.guidance import ArtifactDecides, ContextDecides, GuidedLoopAction
from handrail.model.workflow.values import Compare
from support.compiler.workrail_building import compiled, loop, marked, step

LOOP_CONTROL = "wr.contracts.loop_control"
DECIDES = step("decide-it", outputContract={"contractRef": LOOP_CONTROL})
WHEN = {"var": "v"}
HOLDS = Compare("v", "truthy")


def test_a_while_loop_is_decided_by_its_condition() -> None:
    result = compiled(loop(condition=WHEN))
    assert result.loop().decides == ContextDecides(HOLDS)
    assert (result.loop().loop, result.loop().max_iterations, result.loop().title) == ("while", 3, "Again")


def test_an_until_loop_is_decided_by_its_condition() -> None:
    assert compiled(loop(type="until", condition=WHEN)).loop().decides == ContextDecides(HOLDS)


def test_a_body_step_with_the_contract_decides_before_the_condition() -> None:
    result = compiled(loop(body=[step("work-on-it"), DECIDES], condition=WHEN))
    assert result.loop().decides == ArtifactDecides(LOOP_CONTROL, "the-loop")


def test_what_the_loop_says_itself_comes_first() -> None:
    source = {"kind": "context_variable", "condition": WHEN}
    assert compiled(loop(body=[DECIDES], conditionSource=source)).loop().decides == ContextDecides(HOLDS)


def test_an_artifact_decides_with_the_label_it_was_given() -> None:
    source = {"kind": "artifact_contract", "contractRef": LOOP_CONTROL, "loopId": "own_label"}
    assert compiled(loop(body=[DECIDES], conditionSource=source)).loop().decides == ArtifactDecides(
        LOOP_CONTROL, "own_label"
    )


def test_the_label_of_an_artifact_may_be_left_out() -> None:
    source = {"kind": "artifact_contract", "contractRef": LOOP_CONTROL}
    assert compiled(loop(body=[DECIDES], conditionSource=source)).loop().decides == ArtifactDecides(LOOP_CONTROL)


def test_an_artifact_that_no_step_must_give_is_a_warning() -> None:
    source = {"kind": "artifact_contract", "contractRef": LOOP_CONTROL}
    result = compiled(loop(conditionSource=source))
    assert result.codes == ["loop-undecided"]
    assert result.plan is not None


def test_only_loop_control_can_decide_a_loop() -> None:
    source = {"kind": "artifact_contract", "contractRef": "wr.contracts.gate_verdict"}
    result = compiled(loop(body=[DECIDES], conditionSource=source))
    assert (result.codes, result.only.hint) == (["unknown-contract"], f"use {LOOP_CONTROL}")


@pytest.mark.parametrize("kind", ["while", "until"])
def test_a_loop_that_nothing_decides_is_refused(kind: str) -> None:
    result = compiled(loop(type=kind))
    assert result.only.code == "loop-incomplete"
    assert result.only.message == f"a loop of type {kind} needs 'condition' or 'conditionSource'"
    assert marked(result.only) == f'"{kind}"'


@pytest.mark.parametrize(("kind", "needed"), [("for", "count"), ("forEach", "items")])
def test_a_counting_loop_needs_what_it_counts(kind: str, needed: str) -> None:
    result = compiled(loop(type=kind))
    assert (result.only.code, result.only.message) == ("loop-incomplete", f"a loop of type {kind} needs '{needed}'")


@pytest.mark.parametrize("count", [3, "rounds"])
def test_a_for_loop_counts_a_number_or_a_variable(count: int | str) -> None:
    result = compiled(loop(type="for", count=count))
    assert (result.loop().count, result.loop().decides) == (count, None)


@pytest.mark.parametrize("count", [0, -1, 1001, 1.5, True, ""])
def test_a_count_that_no_loop_can_have_is_refused(count: Any) -> None:
    assert compiled(loop(type="for", count=count)).plan is None


def test_a_for_each_loop_walks_a_variable() -> None:
    names = {"itemVar": "slice", "indexVar": "at", "iterationVar": "turn"}
    made = compiled(loop(type="forEach", items="slices", **names)).loop()
    assert (made.items, made.item_var, made.index_var, made.iteration_var) == ("slices", "slice", "at", "turn")


def test_loop_variables_have_names_of_their_own_unless_said() -> None:
    made = compiled(loop(type="forEach", items="slices")).loop()
    assert (made.item_var, made.index_var, made.iteration_var) == ("currentItem", "currentIndex", "currentIteration")


@pytest.mark.parametrize(
    ("keys", "idle"),
    [
        ({"type": "for", "count": 2, "items": "x"}, '"items"'),
        ({"type": "forEach", "items": "x", "condition": WHEN}, '"condition"'),
        ({"condition": WHEN, "itemVar": "x"}, '"itemVar"'),
        ({"condition": WHEN, "conditionSource": {"kind": "context_variable", "condition": WHEN}}, '"condition"'),
    ],
)
def test_a_key_that_the_loop_does_not_use_is_a_warning(keys: dict[str, Any], idle: str) -> None:
    result = compiled(loop(**keys))
    assert (result.codes, marked(result.only)) == (["no-effect"], idle)


def test_a_named_body_moves_into_the_loop_and_never_runs_on_its_own() -> None:
    result = compiled(step("before-it"), loop(body="work-on-it", condition=WHEN), step("work-on-it"), step("after-it"))
    assert [each.name for each in result.made.steps] == ["before-it", "the-loop", "after-it"]
    assert [each.name for each in result.loop(1).steps] == ["work-on-it"]


def test_a_named_body_may_decide_the_loop() -> None:
    result = compiled(loop(body="decide-it"), DECIDES)
    assert result.loop().decides == ArtifactDecides(LOOP_CONTROL, "the-loop")


def test_two_loops_may_name_one_body() -> None:
    other = loop("other-loop", "work-on-it", condition=WHEN)
    result = compiled(loop(body="work-on-it", condition=WHEN), other, step("work-on-it"))
    assert result.loop(0).steps == result.loop(1).steps
    assert len(result.made.steps) == 2


def test_a_named_body_that_does_not_exist_is_refused() -> None:
    result = compiled(loop(body="work-on-id", condition=WHEN), step("work-on-it"))
    assert result.codes == ["unknown-loop-body"]
    assert result.only.message == "no top-level step has the id 'work-on-id', did you mean 'work-on-it'?"
    assert marked(result.only) == '"work-on-id"'


def test_a_named_body_inside_another_loop_is_not_found() -> None:
    other = loop("other-loop", [step("hidden-one")], condition=WHEN)
    assert compiled(loop(body="hidden-one", condition=WHEN), other).codes == ["unknown-loop-body"]


@pytest.mark.parametrize("name", ["the-loop", "other-loop"])
def test_a_loop_cannot_name_a_loop(name: str) -> None:
    result = compiled(loop(body=name, condition=WHEN), loop("other-loop", condition=WHEN))
    assert result.codes == ["unknown-loop-body"]


def test_a_named_body_that_calls_a_template_says_what_to_do() -> None:
    call = step("call-it", templateCall={"templateId": "wr.templates.routine.execution-simulation"})
    result = compiled(loop(body="call-it", condition=WHEN), call)
    assert "unknown-loop-body" in result.codes
    assert any("calls a template" in (found.hint or "") for found in result.report)


def test_loops_stand_in_loops() -> None:
    inner = loop("inner-loop", [step("deep-step")], type="for", count=2)
    result = compiled(loop(body=[step("work-on-it"), inner], condition=WHEN))
    action = result.loop().steps[1].action
    assert isinstance(action, GuidedLoopAction)
    assert [each.name for each in action.steps] == ["deep-step"]


@pytest.mark.parametrize(
    "steps",
    [
        [step("same-one"), step("same-one")],
        [step("same-one"), loop(body=[step("same-one")], condition=WHEN)],
        [loop(body=[step("the-loop")], condition=WHEN)],
        [loop(body=[loop("inner-loop", [step("same-one")], condition=WHEN), step("same-one")], condition=WHEN)],
    ],
)
def test_an_id_may_stand_once_in_the_whole_workflow(steps: list[dict[str, Any]]) -> None:
    result = compiled(*steps)
    assert result.codes == ["duplicate-step"]
    assert "the first is at line" in (result.only.hint or "")


def test_a_loop_may_have_a_condition_and_a_confirmation_of_its_own() -> None:
    made = compiled({**loop(condition=WHEN), "runCondition": {}, "requireConfirmation": True, "notesOptional": True})
    assert made.step().when is not None
    assert made.loop().confirmation is not None
    assert made.loop().notes_optional


def test_steps_and_their_keys_are_found_by_address() -> None:
    inner = loop("inner-loop", [step("deep-step", runCondition={})], condition=WHEN)
    places = compiled(loop(body=[inner], condition=WHEN)).places
    for address in ("the-loop", "the-loop/inner-loop", "the-loop/inner-loop/deep-step"):
        assert places.find(address) is not None
    assert {"the-loop#loop", "the-loop#body", "the-loop/inner-loop/deep-step#when"} <= set(places.spans)
    span = places.find("the-loop/inner-loop/deep-step", "prompt")
    assert span is not None
    assert span.source.text[span.start : span.end] == '"Do it."'
