"""The keys of what guides a whole native workflow, and of the judgments that its steps ask for."""

import json
from typing import Any

import pytest

from handrail.errors import InvalidWorkflow
from support.differences.performers import Play
from support.differences.proofs import Benches, Json, flow, guided, proves, step

WORK: Json = {"name": "work", "prompt": "Do the work."}
REFERENCE: Json = {"id": "api", "title": "API schema", "source": "spec/api.json", "purpose": "the contract"}
FILES = {"spec/api.json": "{}", "docs/other.json": "{}"}
DIMENSION: Json = {"purpose": "Does each claim name a file?", "levels": ["weak", "strong"]}
QUALITY: Json = {"purpose": "Is it good enough?", "dimensions": {"evidence": DIMENSION}}


def judged(level: str = "strong", **more: str) -> Play:
    """Play an agent that hands in one judgment."""
    dimensions = {"evidence": {"level": level, **more}}
    return Play(artifacts=({"kind": "wr.assessment", "assessmentId": "quality", "dimensions": dimensions},))


@proves("workflow.guidance", "agent settings.role")
@pytest.mark.parametrize(
    ("head", "more"),
    [
        ({"guidance": ["Prefer evidence over opinion."]}, {}),
        ({"defaults": {"role": "Prefer evidence over opinion."}}, {}),
        ({}, {"role": "Prefer evidence over opinion."}),
    ],
)
def test_guidance_and_role_are_told(both: Benches, head: Json, more: Json) -> None:
    assert "Prefer evidence over opinion." not in both(flow(WORK)).prompt
    assert "Prefer evidence over opinion." in both(flow({**WORK, **more}, **head)).prompts[0]


@proves("workflow.references", "reference.title", "reference.source", "reference.purpose", "reference.authoritative")
@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"title": "Other schema"}, "Other schema"),
        ({"source": "docs/other.json"}, "docs/other.json"),
        ({"purpose": "what counts"}, "what counts"),
        ({"authoritative": True}, "(authoritative)"),
    ],
)
def test_references_are_told_to_agents(both: Benches, more: Json, told: str) -> None:
    def prompt(*references: Json) -> str:
        return both(flow(WORK, references=list(references)), files=FILES).prompt

    assert "API schema" not in prompt()
    assert told not in prompt(REFERENCE)
    assert told in prompt({**REFERENCE, **more})


@proves("reference.id", "reference.resolve_from")
def test_a_reference_is_known_by_its_id_and_looked_for_where_it_says(run: Benches) -> None:
    connected = Benches(run.folder / "connected", "connected")

    def start(**more: str) -> Json:
        return connected(flow(WORK, references=[{**REFERENCE, **more}]), files=FILES).answers[0].data

    plain, other, package = start(), start(id="other-api"), start(resolve_from="package")
    assert ("other-api" in str(plain), "other-api" in str(other)) == (False, True)
    unresolved = "REFERENCE_UNRESOLVED"
    assert (unresolved in str(plain), unresolved in str(package)) == (False, True)


@proves("reference.resolve_from")
def test_an_agent_is_told_that_a_document_is_not_there(run: Benches) -> None:
    def prompt(**more: str) -> str:
        return run(flow(WORK, references=[{**REFERENCE, **more}]), files=FILES).prompt

    assert "[not found]" not in prompt()
    assert "[not found]" in prompt(resolve_from="package")


@proves("workflow.features", "feature.id", "feature.config")
def test_features_add_their_texts_to_every_prompt(both: Benches) -> None:
    def prompt(*features: Any) -> str:
        return both(flow(WORK, features=list(features))).prompt

    recap = "End the step with a recap"
    assert recap not in prompt()
    assert recap in prompt("wr.features.durable_recap")
    assert recap in prompt({"id": "wr.features.durable_recap"})
    needs = {"id": "wr.features.capabilities", "config": {"required": ["delegation"]}}
    assert "required here: [delegation]" not in prompt({"id": "wr.features.capabilities"})
    assert "required here: [delegation]" in prompt(needs)


@proves("workflow.capabilities")
def test_a_capability_is_asked_for_and_must_be_there(both: Benches) -> None:
    can = {"kind": "wr.capability_observation", "version": 1, "capability": "web_browsing", "method": "probe"}
    offline, online = ({**can, "status": word, "evidence": "tried"} for word in ("unavailable", "available"))

    def found(level: str, *artifacts: Json) -> tuple[str, bool]:
        head = {"capabilities": {"web_browsing": level}} if level else {}
        trace = both(flow(WORK, **head), agent="codex", plays={"work": Play(artifacts=artifacts)})
        return trace.status, "web_browsing" in trace.prompt

    assert found("") == ("succeeded", False)
    assert found("disabled") == ("succeeded", False)
    assert found("preferred", offline) == ("succeeded", True)
    assert found("required", offline) == ("blocked", True)
    assert found("required", online) == ("succeeded", True)


def test_what_is_asked_of_an_agent_in_its_answer_is_a_schema(run: Benches) -> None:
    asks = {**WORK, "assess": {**QUALITY}}
    for each in (WORK, asks):
        found = run(flow(each, capabilities={"web_browsing": "preferred"}), agent="codex")
        assert "null" not in json.dumps(found.calls[0].schema)
        assert "wr.capability_observation" in json.dumps(found.calls[0].schema)


@proves("workflow.extension_points", "extension point.default")
def test_a_slot_stands_for_what_it_is_bound_to(both: Benches) -> None:
    asks: Json = {"name": "work", "prompt": "Then use {{ bindings.audit }}."}

    def prompt(slot: Any, **options: Any) -> str:
        return both(flow(asks, extension_points={"audit": slot}), **options).prompt

    assert "Then use routine-ideation." in prompt("routine-ideation")
    assert "Then use routine-final-verification." in prompt({"default": "routine-final-verification"})
    bound = {".handrail/bindings.json": '{"audit": "routine-design-review"}'}
    assert "Then use routine-design-review." in prompt("routine-ideation", files=bound)


@proves("extension point.purpose", "json: extension point.purpose")
def test_what_a_slot_is_for_is_told_to_who_looks_at_the_workflow(run: Benches) -> None:
    def shown(text: str) -> str:
        bench = run.bench()
        name = bench.add(text)
        return str(bench.call("inspect_workflow", workflowId=name, workspacePath=str(bench.work)).data)

    slot: Json = {"default": "routine-ideation"}
    asks: Json = {"name": "work", "prompt": "Then use {{ bindings.audit }}."}
    assert "How it is audited." not in shown(flow(asks, extension_points={"audit": slot}))
    purpose: Json = {"purpose": "How it is audited."}
    assert "How it is audited." in shown(flow(asks, extension_points={"audit": {**slot, **purpose}}))
    point: Json = {"slotId": "audit", **slot, **purpose}
    told = guided(step(prompt="Use {{wr.bindings.audit}}."), extensionPoints=[point])
    assert "How it is audited." in shown(told)


@proves("extension point.accepts")
def test_a_slot_refuses_what_it_does_not_accept(both: Benches) -> None:
    asks: Json = {"name": "work", "prompt": "Then use {{ bindings.audit }}."}
    other = {"other": flow(WORK, name="other")}

    def prompt(**more: Any) -> str:
        slot = {"audit": {"default": "other", **more}}
        return both(flow(asks, extension_points=slot), workflows=other).prompt

    assert "Then use other." in prompt()
    assert "Then use other." in prompt(accepts=["workflow"])
    with pytest.raises((InvalidWorkflow, AssertionError)) as refused:
        prompt(accepts=["routine"])
    said = refused.value.diagnostics if isinstance(refused.value, InvalidWorkflow) else refused.value
    assert "slot 'audit' is bound to 'other', which is a workflow" in str(said)


@proves("every step.assess", "workflow.assessments")
def test_a_judgment_is_demanded_and_without_it_the_step_is_not_done(both: Benches) -> None:
    plain = both(flow(WORK, assessments={"quality": QUALITY}))
    asks = flow({**WORK, "assess": "quality"}, assessments={"quality": QUALITY})
    held, given = both(asks), both(asks, plays={"work": judged(rationale="a.py:3")})
    assert (plain.status, held.status, given.status) == ("succeeded", "blocked", "succeeded")
    assert "the assessment 'quality' is missing" in held.told
    several = flow({**WORK, "assess": ["quality", "wr.assessments.confidence"]}, assessments={"quality": QUALITY})
    assert "wr.assessments.confidence" in both(several).prompt


@proves("assessment.purpose", "assessment.dimensions", "assessment.levels")
@proves("dimension.purpose", "dimension.levels")
@pytest.mark.parametrize(
    ("assessment", "told"),
    [
        ({"purpose": "Is it good enough?"}, "Is it good enough?"),
        ({"dimensions": {"care": "How careful?"}}, "`care`: How careful? Levels: low, medium, high"),
        ({"levels": ["poor", "fine"]}, "Levels: poor, fine."),
        ({"dimensions": {"evidence": {"purpose": "Does it name files?"}}}, "Does it name files?"),
        ({"dimensions": {"evidence": {"levels": ["weak", "strong"]}}}, "Levels: weak, strong."),
    ],
)
def test_a_judgment_is_asked_for_in_its_own_words(both: Benches, assessment: Json, told: str) -> None:
    def prompt(**more: Any) -> str:
        return both(flow({**WORK, "assess": {"dimensions": {"evidence": {}}, **more}})).prompt

    assert told not in prompt()
    assert told in prompt(**assessment)


@proves("assessment.rationale", "dimension.required")
def test_reasons_and_dimensions_may_be_left_out_where_it_says_so(both: Benches) -> None:
    def ended(risk: Json | None = None, **more: Any) -> str:
        dimensions = {"evidence": DIMENSION, **({} if risk is None else {"risk": {**DIMENSION, **risk}})}
        head = {"quality": {**QUALITY, "dimensions": dimensions, **more}}
        return both(flow({**WORK, "assess": "quality"}, assessments=head), plays={"work": judged()}).status

    assert (ended(), ended(rationale="required"), ended(rationale="optional")) == ("blocked", "blocked", "succeeded")
    assert ended({}, rationale="optional") == "blocked"
    assert ended({"required": False}, rationale="optional") == "succeeded"


@proves("assessment.follow_up_when", "assessment.guidance")
def test_a_level_sends_the_step_back_with_its_guidance(both: Benches) -> None:
    def found(**more: Any) -> tuple[str, bool]:
        head = {"quality": {**QUALITY, "rationale": "optional", **more}}
        plays = {"work": [judged("weak"), judged("strong")]}
        trace = both(flow({**WORK, "assess": "quality", "retry": 1}, assessments=head), plays=plays)
        return trace.state.steps["work"].status, "Read the code behind it." in trace.prompt

    guidance = {"guidance": "Read the code behind it."}
    assert found() == ("succeeded", False)
    assert found(follow_up_when="weak", **guidance) == ("succeeded", True)
    assert found(follow_up_when=["strong"], **guidance) == ("succeeded", False)
