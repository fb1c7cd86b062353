"""What the performer of a guided step is told."""

from typing import Any

import pytest
from inline_snapshot import snapshot

from handrail.engine.guided.prompts import fill_template
from handrail.engine.text.marked_values import ForeignValue, mark_values
from handrail.model.workflow.values import JsonValue
from support.engine.guided_walking import CONTROL, GuidedWalk, Json, guided_plan, loop, step, var
from support.engine.walking import plan_of

NAMES: dict[str, JsonValue] = {
    "goal": "ship",
    "n": 0,
    "yes": True,
    "list": ["a", None, 2],
    "map": {"inner": {"x": 1.0}, "text": "t", "none": None},
    "null": None,
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{goal}} it", "ship it"),
        ("{{n}} {{yes}} {{list}} {{map}}", "0 true a,,2 [object Object]"),
        ("{{map.inner.x}} {{list.length}}", "1 3"),
        ("{{missing}}", "[unset: missing]"),
        ("{{null}} {{map.none}} {{map.gone.deep}}", "[unset: null] [unset: map.none] [unset: map.gone.deep]"),
        ("{{n.field}}", "[unset: n.field -- 'n' is number (`0`), not object]"),
        ("{{map.text.a.b}}", "[unset: map.text.a.b -- 'map.text' is string (`t`), not object]"),
        ("{{list.first}}", "[unset: list.first]"),
        ("{{ goal }} {{goal + 1}} {{wr.refs.x}} {{1x}} {goal}", "{{ goal }} {{goal + 1}} {{wr.refs.x}} {{1x}} {goal}"),
        ("no braces", "no braces"),
    ],
)
def test_variables_are_filled_in_and_what_is_not_there_is_marked(text: str, expected: str) -> None:
    assert fill_template(text, NAMES) == expected


def test_a_value_is_never_read_as_a_variable_again() -> None:
    assert fill_template("{{a}}", {"a": "{{b}}", "b": "x"}) == "{{b}}"


def spec_of(*steps: Json, inputs: dict[str, JsonValue] | None = None, **keys: Any) -> Any:
    return GuidedWalk(guided_plan(*steps, **keys), inputs=inputs or {}).start().settle().spec


def test_a_plain_step_gives_its_title_its_prompt_and_that_notes_are_needed() -> None:
    assert spec_of(step("one", title="For {{goal}}", prompt="Do {{goal}}")) == {
        "title": "For `the goal`",
        "prompt": "Do `the goal`",
        "marks": mark_values([ForeignValue("goal", "the goal")]).note,
        "notes": "required",
    }


def test_role_guidance_and_confirmation_reach_the_performer() -> None:
    full = step(
        "one",
        agentRole="You are a careful reviewer.",
        guidance=["Read first."],
        requireConfirmation=var("risky"),
        askForFiles=True,
    )
    assert spec_of(full, inputs={"risky": True}) == snapshot(
        {
            "title": "Title of one",
            "prompt": "Do it.",
            "agent_role": "You are a careful reviewer.",
            "guidance": ["Read first."],
            "notes": "required",
            "ask_for_files": True,
            "confirmation": "user",
        }
    )
    assert "confirmation" not in spec_of(full)


def test_fragments_whose_condition_holds_follow_in_their_order() -> None:
    fragments = [
        {"id": "first", "when": var("x", equals="a"), "text": "A {{goal}}"},
        {"id": "second", "text": "always"},
        {"id": "third", "when": var("x", equals="b"), "text": "B"},
    ]
    spec = spec_of(step("one", promptFragments=fragments), inputs={"x": "a"})
    assert spec["fragments"] == ["A `the goal`", "always"]


def test_a_contract_is_given_with_its_schema_and_an_example() -> None:
    spec = spec_of(step("one", outputContract={"contractRef": "wr.contracts.loop_control"}))
    assert spec["notes"] == "optional"
    assert (spec["contract"]["ref"], spec["contract"]["kind"]) == ("wr.contracts.loop_control", "wr.loop_control")
    assert spec["contract"]["example"] == {"kind": "wr.loop_control", "decision": "continue"}
    assert spec["contract"]["schema"]["required"] == ["kind", "decision"]


def test_an_assessment_is_given_with_its_dimensions_and_an_example() -> None:
    risk = {
        "id": "risk",
        "purpose": "How risky",
        "dimensions": [{"id": "scope", "purpose": "Width", "levels": ["low", "high"]}],
    }
    spec = spec_of(step("one", assessmentRefs=["risk"]), assessments=[risk])
    assert spec["assessments"][0]["dimensions"] == [{"id": "scope", "purpose": "Width", "levels": ["low", "high"]}]
    assert spec["assessments"][0]["example"] == snapshot(
        {"kind": "wr.assessment", "assessmentId": "risk", "dimensions": {"scope": {"level": "low", "rationale": "…"}}}
    )


def test_criteria_are_told_before_they_are_checked() -> None:
    rules = {
        "and": [
            {"type": "contains", "value": "A", "message": "m"},
            {"not": {"type": "length", "max": 3, "message": "m"}},
        ]
    }
    wanted = ["must contain: A", "not: length: at most 3 characters"]
    assert spec_of(step("one", validationCriteria=rules))["criteria"] == wanted


def test_a_step_in_a_loop_says_which_round_it_is_and_whether_it_decides() -> None:
    walk = GuidedWalk(guided_plan(loop("lap", step("dig"), step("sum", **CONTROL), type="while", maxIterations=4)))
    walk.start().settle()
    assert walk.spec["loop"] == {"id": "lap", "title": "Again", "iteration": 1, "most": 4, "decides": False}
    walk.once()
    assert walk.settle().spec["loop"]["decides"] is True


def test_what_was_rendered_stays_although_the_context_changes() -> None:
    from handrail.model.history.events import ContextMerged

    walk = GuidedWalk(guided_plan(step("one", prompt="{{x}}")), inputs={"x": "old"}).start().settle()
    walk.record(ContextMerged(changes={"x": "new"}, at=walk.now))
    assert walk.settle().spec["prompt"] == "`old`"


NATIVE = """\
name: a
input: {base: string}
steps:
  - {name: x, type: agent, prompt: 'Look at {{ base }}{% if base == "b" %}!{% endif %}', access: read}
"""


def test_an_agents_step_of_a_held_run_is_pending_with_its_rendered_prompt() -> None:
    walk = GuidedWalk(plan_of(NATIVE), inputs={"base": "b"}).start().settle()
    assert walk.state.pending is not None
    assert walk.state.pending.action == "agent"
    assert "Look at `b`!" in str(walk.spec["prompt"])
    assert (walk.spec["access"], walk.spec["turn"]) == ("read", 1)


def test_an_agents_step_without_a_holder_is_for_the_engine_to_perform() -> None:
    walk = GuidedWalk(plan_of(NATIVE), inputs={"base": "b"}).start_alone().settle()
    assert walk.state.pending is not None
    assert (walk.state.status, walk.state.pending.action) == ("running", "agent")


def test_delegations_that_apply_are_given_with_what_they_are_told() -> None:
    delegations = [
        {"workflowId": "helper-one", "goal": "Study {{goal}}", "contextMapping": {"x": "theirs"}},
        {"workflowId": "helper-two", "runCondition": var("never")},
    ]
    split: Json = {"id": "split", "type": "parallel", "title": "Split {{x}}", "parallelDelegations": delegations}
    spec = spec_of(split, inputs={"x": 1})
    assert spec["title"] == "Split 1"
    assert spec["delegations"] == snapshot(
        [
            {
                "workflow": "helper-one",
                "goal": "Study `the goal`",
                "context": {"theirs": 1},
                "shown_context": '`{"theirs": 1}`',
                "model_tier": None,
                "allowed_tools": None,
            }
        ]
    )
