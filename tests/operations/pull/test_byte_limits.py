"""Sizes of what goes out: cut at whole characters, never an internal error because a text is long."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.engine.text.byte_limits import MAX_FIX, MAX_MESSAGE, MAX_SENT, cut, cut_value
from handrail.library import __file__ as library
from handrail.model.workflow.values import JsonValue
from handrail.serve.mcp.answer_text import MAX_ERROR, render_error
from support.pull.room import Json, Pull, definition, step

REVIEW: Json = {"outputContract": {"contractRef": "wr.contracts.review_verdict"}}


@given(st.text(alphabet=st.characters(codec=None), max_size=200), st.integers(4, 300))
def test_a_cut_text_fits_and_is_a_beginning_of_the_whole(text: str, most: int) -> None:
    found = cut(text, most, "…")
    assert len(found.encode()) <= most
    whole = text.encode(errors="replace").decode()
    assert found == whole or (found.endswith("…") and whole.startswith(found[:-1]))


@given(st.lists(st.text(max_size=50), max_size=80))
def test_a_value_that_is_too_large_is_shown_as_the_beginning_of_its_text(value: list[str]) -> None:
    given_value: JsonValue = [*value]
    found = cut_value(given_value)
    assert found == given_value or (isinstance(found, str) and len(found.encode()) <= MAX_SENT)


@pytest.mark.parametrize("artifacts", [[], [{"kind": "wr.review_verdict", "verdict": "x" * 5000}]])
def test_a_contract_with_much_to_say_about_it_is_a_refusal_and_no_internal_error(
    pull: Pull, artifacts: list[Json]
) -> None:
    said = pull.start(definition(step("judge", **REVIEW)))
    blocked = pull.advance(said, artifacts=artifacts)
    assert blocked.data["kind"] == "blocked"
    assert not blocked.is_error
    for each in blocked.data["blockers"]:
        assert len(each["message"].encode()) <= MAX_MESSAGE
        assert len(each["suggestedFix"].encode()) <= MAX_FIX


def test_missing_notes_on_a_step_of_a_template_are_a_refusal_and_no_internal_error(pull: Pull) -> None:
    call = {"templateId": "wr.templates.routine.design-review", "args": {"deliverableName": "x.md"}}
    said = pull.start(definition({"id": "design", "title": "Design", "templateCall": call}))
    blocked = pull.advance(said, notes=None)
    assert "." in said.pending["stepId"]
    assert blocked.codes == ["MISSING_REQUIRED_NOTES"]


def test_a_guidance_of_full_length_comes_back_whole(pull: Pull) -> None:
    guidance = "g" * 512
    risk = {"id": "risk", "purpose": "P", "dimensions": [{"id": "scope", "purpose": "W", "levels": ["low", "high"]}]}
    when = {"when": {"anyEqualsLevel": "high"}, "effect": {"kind": "require_followup", "guidance": guidance}}
    flow = definition(step("one", assessmentRefs=["risk"], assessmentConsequences=[when]), assessments=[risk])
    judged = {"kind": "wr.assessment", "dimensions": {"scope": {"level": "high", "rationale": "r"}}}
    blocked = pull.advance(pull.start(flow), artifacts=[judged])
    assert blocked.codes == ["ASSESSMENT_FOLLOWUP_REQUIRED"]
    assert guidance in blocked.data["blockers"][0]["suggestedFix"]
    assert len(blocked.data["blockers"][0]["message"].encode()) <= MAX_MESSAGE


def test_what_was_sent_is_shown_in_part_where_it_is_large(pull: Pull) -> None:
    said = pull.start(definition(step("judge", **REVIEW)))
    huge = {"kind": "wr.review_verdict", "verdict": "ü" * 300_000}
    blocked = pull.advance(said, artifacts=[huge])
    sent = blocked.data["blockers"][0]["sent"]
    assert isinstance(sent, str)
    assert len(sent.encode()) <= MAX_SENT
    assert len(blocked.text.encode()) < 20_000


def test_an_error_about_a_long_argument_is_short(pull: Pull) -> None:
    said = pull.call("continue_workflow", continueToken="ct_" + "A" * 1000, intent="x" * 100_000)
    assert said.is_error
    assert len(said.text.encode()) < 2 * MAX_ERROR
    assert len(str(render_error("X", "ü" * 9000, "ü" * 9000).data["message"]).encode()) <= MAX_ERROR


def test_half_a_character_is_never_sent_back(pull: Pull) -> None:
    said = pull.start(definition(step("one"), step("two", prompt="Say {{word}}.")))
    after = pull.advance(said, notes="a \ud800 b", context={"word": "x\udfffy"})
    again = pull.rehydrate(after)
    for each in (after, again):
        each.text.encode()
        json.dumps(each.data, ensure_ascii=False).encode()
    assert "Say `x" in after.text


def test_every_contract_of_the_library_can_be_refused_and_met_by_its_example(pull: Pull) -> None:
    for path in sorted((Path(str(library)).parent / "contracts").glob("*.json")):
        contract = {"contractRef": f"wr.contracts.{path.stem}"}
        said = pull.start(definition(step("one", outputContract=contract), name=f"f-{path.stem}".replace("_", "-")))
        blocked = pull.advance(said, notes=None)
        assert blocked.codes == ["MISSING_REQUIRED_OUTPUT"], path.stem
        done = pull.call("continue_workflow", **blocked.data["nextCall"]["params"])
        assert done.complete, (path.stem, done.text)
