"""Whatever a file holds, compiling it ends in a plan or in diagnostics."""

import copy
import json
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handrail.compiler.workrail.passes_state import MAX_STEPS
from handrail.model.codec import decode, encode
from handrail.model.workflow.plan import Plan
from support.compiler.workrail_building import DATA, catalog, compile_text, compiled, loop, routine, step, workflow

REAL = [
    json.loads(path.read_text(encoding="utf-8"))
    for path in sorted(DATA.rglob("*.json"))
    if path.name
    in {
        "coding-task-workflow-agentic.lean.v2.json",
        "wr.discovery.json",
        "workflow-for-workflows.v2.json",
        "simple-polling.json",
        "test-artifact-loop-control.json",
        "learner-centered-course-workflow.json",
    }
]
OWN = workflow(
    step("call-it", templateCall={"templateId": "wr.templates.routine.own", "args": {"file": "x"}}),
    step(
        "judge-it",
        promptBlocks={
            "goal": [
                {"kind": "text", "text": "See {{wr.bindings.slot}}"},
                {"kind": "ref", "refId": "wr.refs.memory_usage"},
            ],
            "outputRequired": {"a": "b"},
        },
        assessmentRefs=["judgment", "wr.assessments.confidence"],
        assessmentConsequences=[
            {
                "when": {"anyEqualsLevel": "low", "forAssessment": "judgment"},
                "effect": {"kind": "require_followup", "guidance": "again"},
            }
        ],
        validationCriteria={
            "and": [
                {"type": "regex", "pattern": "a+", "message": "m"},
                {"not": {"type": "length", "min": 1, "message": "m"}},
            ]
        },
        functionReferences=["look()"],
        promptFragments=[{"id": "one", "text": "{{x}}", "when": {"var": "v", "matches": "a|b"}}],
        requireConfirmation={"kind": "human_approval", "condition": {"or": [{"var": "v"}, {"not": {"var": "w"}}]}},
    ),
    loop(body=[loop("inner-loop", "named-body", type="for", count=2)], condition={"var": "v", "in": [1]}),
    step("named-body", outputContract={"contractRef": "wr.contracts.loop_control"}),
    {
        "id": "fan-out",
        "type": "parallel",
        "title": "t",
        "parallelDelegations": [{"workflowId": "routine-ideation", "args": {"a": "b"}, "contextMapping": {"c": "d"}}],
        "synthesis": {"prompt": "p", "outputContract": {"contractRef": "wr.contracts.review_verdict"}},
    },
    assessments=[
        {"id": "judgment", "purpose": "p", "dimensions": [{"id": "d", "purpose": "p", "levels": ["low", "high"]}]}
    ],
    features=["wr.features.subagent_guidance", {"id": "wr.features.mode_guidance", "config": {"autonomy": "guided"}}],
    capabilities={"delegation": "required", "preferred": ["web_browsing"]},
    extensionPoints=[{"slotId": "slot", "purpose": "p", "default": "routine-own"}],
    references=[{"id": "guide", "title": "t", "source": "a.md", "purpose": "p", "authoritative": False}],
    functionDefinitions=[{"name": "look", "definition": "d"}],
)
USING = catalog({"routine-own": routine("own", step("one-step", prompt="{file}"))}, '{"slot": "routine-ideation"}')
NAMES = [
    "x",
    "low",
    "loop",
    "for",
    "forEach",
    "judgment",
    "named-body",
    "the-loop",
    "inner-loop",
    "call-it",
    "look()",
    "text",
    "ref",
    "required",
    "own",
]
IDS = ["wr.features.x", "wr.contracts.loop_control", "wr.templates.routine.own", "wr.templates.routine.ideation"]
ODD = ["", "(", "{{wr.x}}", "{{wr.bindings.slot}}", "{{a b}}", "{file}", "{}", "../x", "\u0000\u001b[31m", "é" * 300]
WORDS = st.sampled_from([*NAMES, *IDS, *ODD])
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 2000), st.floats(allow_nan=False, allow_infinity=False), WORDS
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3), max_leaves=6
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every holder in the data with each of its keys or indexes."""
    found: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value)
        found.extend((entries, key) for key in entries)
        found.extend(place for inner in entries.values() for place in places(inner))
    elif isinstance(value, list):
        items = cast("list[Any]", value)
        found.extend((items, index) for index in range(len(items)))
        found.extend(place for inner in items for place in places(inner))
    return found


def mutate(data: st.DataObject, root: Any) -> None:
    holder, key = data.draw(st.sampled_from(places(root)))
    match data.draw(st.sampled_from(["word", "value", "remove", "again"])):
        case "word":
            holder[key] = data.draw(WORDS)
        case "value":
            holder[key] = data.draw(VALUES)
        case "remove":
            del holder[key]
        case _:
            again(data, holder, key)


def again(data: st.DataObject, holder: Any, key: Any) -> None:
    """Put what stands in one place into another too."""
    twin: Any = copy.deepcopy(holder[key])
    if isinstance(holder, list):
        cast("list[Any]", holder).append(twin)
    else:
        holder[data.draw(WORDS)] = twin


def judged(text: str) -> tuple[bool, Plan | None, Plan | None]:
    """Tell whether the report says that it failed, and give the plan before and after it was stored."""
    result = compile_text(text, USING)
    return result.report.failed, result.plan, result.plan and decode(Plan, encode(result.plan))


def test_the_sample_of_everything_compiles() -> None:
    assert compile_text(json.dumps(OWN), USING).codes == []


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_a_workflow_that_uses_everything_may_be_damaged_anywhere(data: st.DataObject) -> None:
    root = copy.deepcopy(OWN)
    for _ in range(data.draw(st.integers(1, 3))):
        if places(root):
            mutate(data, root)
    failed, plan, kept = judged(json.dumps(root))
    assert (plan is None) == failed
    assert kept == plan


@pytest.mark.skipif(not REAL, reason=f"WorkRail's catalogue is not at {DATA}")
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_a_file_of_the_catalogue_may_be_damaged_anywhere(data: st.DataObject) -> None:
    root = copy.deepcopy(data.draw(st.sampled_from(REAL)))
    for _ in range(data.draw(st.integers(1, 4))):
        mutate(data, root)
    failed, plan, kept = judged(json.dumps(root))
    assert (plan is None) == failed
    assert kept == plan


@settings(deadline=None)
@given(
    st.recursive(
        st.fixed_dictionaries({"var": WORDS}),
        lambda inner: st.one_of(
            st.fixed_dictionaries({"and": st.lists(inner, max_size=3)}),
            st.fixed_dictionaries({"or": st.lists(inner, max_size=3)}),
            st.fixed_dictionaries({"not": inner}),
            st.fixed_dictionaries({"var": WORDS, "equals": VALUES}),
            st.fixed_dictionaries({"var": WORDS, "matches": WORDS}),
        ),
        max_leaves=8,
    )
)
def test_any_condition_lowers_to_a_plan_or_to_diagnostics(condition: dict[str, Any]) -> None:
    failed, plan, kept = judged(json.dumps(workflow(step(runCondition=condition))))
    assert (plan is None) == failed
    assert kept == plan


def test_very_long_names_are_shortened_in_messages() -> None:
    result = compiled(step(outputContract={"contractRef": "x" * 5000}))
    assert len(result.only.message) < 120


def test_control_characters_do_not_reach_messages() -> None:
    result = compiled(step(outputContract={"contractRef": "\u001b[31mred\nline"}))
    assert "\u001b" not in result.only.message
    assert "\n" not in result.only.message


def test_loops_may_nest_as_deep_as_a_file_may() -> None:
    inner: dict[str, Any] = step("deep-step")
    for depth in range(25):
        inner = loop(f"loop-{depth}", [inner], type="for", count=1)
    assert compiled(inner).codes == []


def test_two_thousand_steps_compile_and_more_are_refused() -> None:
    steps = [step(f"step-{number}") for number in range(MAX_STEPS + 1)]
    assert len(compiled(*steps[1:]).made.steps) == MAX_STEPS
    assert compiled(*steps).codes == ["too-many-steps"]


def test_calls_that_would_expand_to_too_many_steps_are_refused() -> None:
    inner = [step(f"step-{number}") for number in range(50)]
    using = catalog({"routine-own": routine("own", *inner)})
    calls = [step(f"call-{number}", templateCall={"templateId": "wr.templates.routine.own"}) for number in range(45)]
    assert compiled(*calls, using=using).codes == ["too-many-steps"]


def test_a_long_argument_is_refused() -> None:
    result = compile_text(json.dumps(workflow(call("x" * 2049))), USING)
    assert result.only.message == "argument 'file' has 2049 characters, the maximum is 2048"


def test_an_argument_that_stands_often_cannot_make_a_prompt_huge() -> None:
    using = catalog({"routine-own": routine("own", step("one-step", prompt="{file}" * 1000))})
    result = compile_text(json.dumps(workflow(call("x" * 2000))), using)
    assert result.only.code == "bad-value"
    assert "would have a prompt of 2000000 characters" in result.only.message


def call(argument: str) -> dict[str, Any]:
    return step("call-it", templateCall={"templateId": "wr.templates.routine.own", "args": {"file": argument}})
