from typing import Any

import pytest

from handrail.model.workflow.guidance import Slot
from support.compiler.workrail_building import Result, catalog, compiled, loop, marked, routine, step

SLOT: dict[str, Any] = {"slotId": "review_by", "purpose": "Who reviews.", "default": "routine-design-review"}
TOKEN = "{{wr.bindings.review_by}}"


def bound(bindings: str | None = None, **keys: Any) -> Result:
    point = {**SLOT, **keys}
    using = catalog({"team-review": routine("team-review", step("one-step"))}, bindings)
    return compiled(step(prompt=f"Ask {TOKEN}."), extensionPoints=[point], using=using)


def test_a_slot_is_bound_to_its_default() -> None:
    result = bound()
    assert result.action().prompt.text == "Ask routine-design-review."
    assert result.guided.slots == (Slot("review_by", "Who reviews.", "routine-design-review"),)


def test_the_projects_flat_bindings_win() -> None:
    result = bound('{"review_by": "team-review"}')
    assert result.action().prompt.text == "Ask team-review."
    assert result.guided.slots == (Slot("review_by", "Who reviews.", "team-review", overridden=True),)


def test_the_projects_section_for_the_workflow_wins() -> None:
    result = bound('{"sample-flow": {"review_by": "team-review"}, "other-flow": {"x": "y"}}')
    assert result.action().prompt.text == "Ask team-review."


def test_a_section_of_another_workflow_changes_nothing() -> None:
    result = bound('{"other-flow": {"review_by": "team-review"}}')
    assert result.action().prompt.text == "Ask routine-design-review."
    assert result.codes == []


def test_what_a_slot_accepts_is_kept_whatever_its_order() -> None:
    one, other = bound(acceptedKinds=["workflow", "routine"]), bound(acceptedKinds=["routine", "workflow"])
    assert one.guided.slots == other.guided.slots
    assert one.guided.slots[0].accepts == ("routine", "workflow")


@pytest.mark.parametrize(
    "blocks",
    [
        {"goal": TOKEN},
        {"constraints": [f"x {TOKEN}"]},
        {"procedure": [[{"kind": "text", "text": TOKEN}]]},
        {"outputRequired": {"notes": TOKEN}},
        {"verify": [TOKEN]},
    ],
)
def test_tokens_are_resolved_everywhere_in_prompt_blocks(blocks: dict[str, Any]) -> None:
    result = compiled(step(promptBlocks=blocks), extensionPoints=[SLOT])
    assert "routine-design-review" in result.action().prompt.text
    assert "{{" not in result.action().prompt.text


def test_tokens_are_resolved_in_loop_bodies() -> None:
    inner = loop("inner-loop", [step(prompt=TOKEN)], condition={})
    result = compiled(loop(body=[inner], condition={}), extensionPoints=[SLOT])
    assert result.codes == []


def test_tokens_are_resolved_in_audits_and_verifications() -> None:
    result = compiled(step(audit={"prompt": TOKEN}, verification={"prompt": TOKEN}), extensionPoints=[SLOT])
    audit, verification = result.action().audit, result.action().verification
    assert audit is not None
    assert verification is not None
    assert (audit.prompt, verification.prompt) == ("routine-design-review", "routine-design-review")


def test_an_unknown_slot_is_marked_in_the_prompt_and_lists_the_declared_ones() -> None:
    result = compiled(step(prompt="Ask {{wr.bindings.review_buy}} now."), extensionPoints=[SLOT])
    assert result.codes == ["unknown-slot"]
    assert result.only.message == "no slot 'review_buy' is declared, did you mean 'review_by'?"
    assert result.only.hint == "declared slots: review_by"
    assert marked(result.only) == "{{wr.bindings.review_buy}}"


def test_a_slot_in_a_workflow_without_any_is_refused() -> None:
    result = compiled(step(prompt=TOKEN))
    assert result.only.hint == "declare it in 'extensionPoints'"


def test_a_slot_declared_twice_is_refused() -> None:
    assert compiled(extensionPoints=[SLOT, SLOT]).codes == ["duplicate-slot"]


def test_a_broken_bindings_file_is_told_in_that_file() -> None:
    result = bound('{"review_by": ')
    assert result.plan is None
    assert {found.file for found in result.report} == {"bindings.json"}


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        '{"review_by": ""}',
        f'{{"review_by": "{"x" * 129}"}}',
        '{"sample-flow": {"review_by": 3}}',
        '{"a": "b", "c": {}}',
        '{"review_by": 3}',
    ],
)
def test_a_bindings_file_of_the_wrong_form_is_told_in_that_file(text: str) -> None:
    result = bound(text)
    assert result.codes == ["bad-bindings"]
    assert result.only.file == "bindings.json"


def test_a_broken_bindings_file_does_not_matter_to_a_workflow_without_slots() -> None:
    assert compiled(using=catalog(bindings="{")).codes == []


def test_an_unknown_slot_in_the_workflows_section_is_an_error_in_that_file() -> None:
    result = bound('{"sample-flow": {"reviewer": "x", "other": "y"}}')
    assert result.codes == ["unknown-slot", "unknown-slot"]
    assert result.plan is None
    assert {(found.file, marked(found)) for found in result.report} == {
        ("bindings.json", '"reviewer"'),
        ("bindings.json", '"other"'),
    }


def test_flat_bindings_may_name_slots_of_other_workflows_but_not_misspell_ours() -> None:
    result = bound('{"deploy_to": "x", "review_bye": "y"}')
    assert [found.message for found in result.report] == [
        "the workflow has no slot 'review_bye', did you mean 'review_by'?"
    ]


def test_a_slot_bound_to_something_that_does_not_exist_is_refused_where_that_is_said() -> None:
    result = bound('{"review_by": "routine-desing-review"}')
    assert result.codes == ["unknown-binding"]
    assert (result.only.file, marked(result.only)) == ("bindings.json", '"routine-desing-review"')
    assert "did you mean 'routine-design-review'?" in result.only.message


def test_a_default_that_does_not_exist_is_refused_where_it_is_declared() -> None:
    result = bound(default="nowhere")
    assert result.codes == ["unknown-binding"]
    assert result.only.file != "bindings.json"


def test_a_slot_bound_to_another_kind_than_it_accepts_is_refused() -> None:
    result = bound('{"review_by": "team-review"}', acceptedKinds=["routine"])
    assert result.codes == ["binding-kind"]
    assert result.only.message == "slot 'review_by' is bound to 'team-review', which is a workflow"
    assert result.only.hint == "it accepts: routine"


@pytest.mark.parametrize("target", ["routine-context-completeness", "wr.templates.audit.depth", "wr.routine-ideation"])
def test_a_routine_of_the_library_can_be_bound_by_each_of_its_names(target: str) -> None:
    assert bound(default=target, acceptedKinds=["routine"]).codes == []
