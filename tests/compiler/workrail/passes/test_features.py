from typing import Any

import pytest

from handrail.model.workflow.guidance import FeatureUse
from support.compiler.workrail_building import builtins, compiled, loop, marked, step

MEMORY, SUBAGENTS, CAPABILITIES, MODE = (
    f"wr.features.{name}" for name in ("memory_context", "subagent_guidance", "capabilities", "mode_guidance")
)
BLOCKS: dict[str, Any] = {"goal": "g", "constraints": ["mine"], "procedure": ["do"], "verify": ["check"]}


def test_a_feature_adds_its_texts_after_the_authors() -> None:
    plain = compiled(step(promptBlocks=BLOCKS)).action().prompt.text
    text = compiled(step(promptBlocks=BLOCKS), features=[SUBAGENTS]).action().prompt.text
    feature = builtins().feature(SUBAGENTS)
    assert feature is not None
    assert text.startswith("## Goal\ng\n\n## Constraints\n- mine\n- ")
    assert text.count("\n- ") == plain.count("\n- ") + len(feature.constraints) + len(feature.verify)
    assert f"\n{1 + len(feature.procedure)}. " in text


def test_features_are_applied_in_the_order_they_are_declared() -> None:
    first = compiled(step(promptBlocks=BLOCKS), features=[SUBAGENTS, CAPABILITIES]).action().prompt.text
    other = compiled(step(promptBlocks=BLOCKS), features=[CAPABILITIES, SUBAGENTS]).action().prompt.text
    assert first != other
    assert len(first) == len(other)


def test_a_plain_prompt_is_left_as_it_is() -> None:
    assert compiled(step(prompt="As it is."), features=[CAPABILITIES]).action().prompt.text == "As it is."


def test_a_section_the_author_left_out_is_made_by_the_feature() -> None:
    text = compiled(step(promptBlocks={"goal": "g"}), features=[CAPABILITIES]).action().prompt.text
    assert "## Constraints\n- " in text


def test_steps_in_loops_get_features_too() -> None:
    inner = step("inner-step", promptBlocks={"goal": "g"})
    result = compiled(loop(body=[inner], condition={}), features=[MEMORY])
    action = result.loop().steps[0].action
    assert action.kind == "guided"
    assert "## Constraints" in action.prompt.text


def test_a_reference_inside_a_feature_is_resolved() -> None:
    text = compiled(step(promptBlocks={"goal": "g"}), features=[MEMORY]).action().prompt.text
    memory = builtins().ref("wr.refs.memory_usage")
    assert memory is not None
    assert memory in text


@pytest.mark.parametrize("section", ["goal", "constraints", "procedure", "verify"])
def test_a_text_that_the_author_refers_to_is_not_added_again(section: str) -> None:
    ref = [{"kind": "text", "text": "First: "}, {"kind": "ref", "refId": "wr.refs.memory_usage"}]
    blocks = {"goal": "g", **({section: ref} if section == "goal" else {section: [ref]})}
    text = compiled(step(promptBlocks=blocks), features=[MEMORY, SUBAGENTS]).action().prompt.text
    memory = builtins().ref("wr.refs.memory_usage")
    assert memory is not None
    assert text.count(memory) == 1
    assert "subagent" in text


def test_a_text_that_the_author_wrote_in_the_same_words_is_not_added_again() -> None:
    feature = builtins().feature(SUBAGENTS)
    assert feature is not None
    words = str(feature.verify[0])
    text = compiled(step(promptBlocks={"goal": "g", "verify": [words]}), features=[SUBAGENTS]).action().prompt.text
    assert text.count(words) == 1
    assert str(feature.verify[1]) in text


def test_what_the_author_says_twice_stays_twice() -> None:
    text = compiled(step(promptBlocks={"goal": "g", "verify": ["Look.", "Look."]}), features=[MEMORY]).action()
    assert text.prompt.text.count("- Look.") == 2


def test_settings_are_written_into_the_texts() -> None:
    use = {"id": MODE, "config": {"autonomy": "full_auto_never_stop"}}
    text = compiled(step(promptBlocks=BLOCKS), features=[use]).action().prompt.text
    assert "full_auto_never_stop" in text
    assert "{config." not in text


def test_a_list_in_the_settings_is_written_with_commas() -> None:
    use = {"id": CAPABILITIES, "config": {"required": ["delegation", "web_browsing"]}}
    assert "delegation, web_browsing" in compiled(step(promptBlocks=BLOCKS), features=[use]).action().prompt.text


def test_a_feature_without_settings_means_the_defaults() -> None:
    written = {"id": MODE, "config": {"autonomy": "guided"}}
    forms: list[object] = [MODE, {"id": MODE}, {"id": MODE, "config": {}}, written]
    plans = [compiled(step(promptBlocks=BLOCKS), features=[form]).made for form in forms]
    assert all(plan == plans[0] for plan in plans)
    assert plans[0].guided is not None
    assert plans[0].guided.features == (FeatureUse(MODE, {"autonomy": "guided"}),)


def test_a_feature_that_takes_no_settings_is_recorded_by_its_id() -> None:
    assert compiled(features=[SUBAGENTS]).guided.features == (FeatureUse(SUBAGENTS),)


def test_an_unknown_feature_is_refused_with_the_known_ones() -> None:
    result = compiled(features=["wr.features.memory_contxt"])
    assert result.codes == ["unknown-feature"]
    assert "did you mean 'wr.features.memory_context'?" in result.only.message
    assert SUBAGENTS in (result.only.hint or "")
    assert marked(result.only) == '"wr.features.memory_contxt"'


def test_a_feature_that_stands_twice_is_refused_whatever_its_form() -> None:
    assert compiled(features=[MODE, {"id": MODE}]).codes == ["bad-value"]


@pytest.mark.parametrize(
    ("feature", "config", "message"),
    [
        (MODE, {"autonmy": "guided"}, "the feature has no setting 'autonmy', did you mean 'autonomy'?"),
        (MODE, {"autonomy": "guidd"}, "'guidd' is not allowed here, did you mean 'guided'?"),
        (MODE, {"autonomy": 3}, "this value is not allowed here"),
        (CAPABILITIES, {"required": "delegation"}, "expected a list"),
        (CAPABILITIES, {"required": ["telepathy"]}, "'telepathy' is not allowed here"),
        (CAPABILITIES, {"required": ["delegation", "delegation"]}, "'delegation' appears twice in the list"),
        (SUBAGENTS, {"a": 1}, "the feature has no settings"),
    ],
)
def test_settings_that_do_not_fit_are_refused(feature: str, config: object, message: str) -> None:
    result = compiled(features=[{"id": feature, "config": config}])
    assert (result.only.code, result.only.message) == ("feature-config", message)
