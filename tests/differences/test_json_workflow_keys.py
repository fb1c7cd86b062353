"""The keys of a WorkRail-style workflow as a whole, and the texts that it adds to its steps."""

from typing import Any

import pytest

from handrail.errors import InvalidWorkflow
from support.differences.performers import Play
from support.differences.proofs import Benches, Json, guided, proves, step

FUNCTION: Json = {"name": "reviewDiff", "definition": "Read the diff hunk by hunk."}
USES = step(prompt="Use reviewDiff() now.", functionReferences=["reviewDiff()"])
PARAMETER: Json = {"name": "depth", "type": "string"}
REFERENCE: Json = {
    "id": "api",
    "title": "API schema",
    "source": "spec/api.json",
    "purpose": "the contract",
    "authoritative": False,
}


def prompt_of(run: Benches, *steps: Json, **head: Any) -> str:
    """Give all that an agent is told in a run."""
    return run(guided(*(steps or (step(),)), **head)).prompt


@proves("json: workflow.id", "json: workflow.name", "json: workflow.description")
@proves("json: workflow.version", "json: workflow.about", "json: workflow.examples", "json: workflow.tags")
@pytest.mark.parametrize(
    ("head", "told"),
    [
        ({"id": "other-case"}, "other-case"),
        ({"name": "Painting"}, "Painting"),
        ({"description": "Paints the fence."}, "Paints the fence."),
        ({"version": "7.8.9"}, "7.8.9"),
        ({"about": "For fences of wood."}, "For fences of wood."),
        ({"examples": ["Paint the garden fence"]}, "Paint the garden fence"),
        ({"tags": ["garden"]}, "garden"),
    ],
)
def test_what_a_workflow_says_of_itself_is_told_to_who_looks_for_one(run: Benches, head: Json, told: str) -> None:
    def shown(**more: Any) -> str:
        bench = run.bench()
        text = guided(step(), **more)
        name = bench.add(text)
        listed = bench.call("list_workflows", workspacePath=str(bench.work))
        inspected = bench.call("inspect_workflow", workflowId=name, workspacePath=str(bench.work))
        return f"{listed.data}{inspected.data}"

    assert told not in shown()
    assert told in shown(**head)


@proves("json: workflow.metaGuidance", "json: workflow.agentRole")
@pytest.mark.parametrize(
    "head",
    [
        {"metaGuidance": ["Prefer evidence over opinion."]},
        {"agentRole": "Prefer evidence over opinion."},
    ],
)
def test_guidance_and_role_of_a_workflow_are_told(both: Benches, head: Json) -> None:
    assert "Prefer evidence over opinion." not in prompt_of(both)
    assert "Prefer evidence over opinion." in prompt_of(both, **head)


@proves("json: workflow.preconditions", "json: workflow.clarificationPrompts")
@pytest.mark.parametrize("key", ["preconditions", "clarificationPrompts"])
def test_what_must_be_clear_first_is_told_to_who_starts(run: Benches, key: str) -> None:
    connected = Benches(run.folder / "connected", "connected")
    told = [connected(guided(step(), **more)).prompts[0] for more in ({}, {key: ["The bug can be reproduced."]})]
    assert ["The bug can be reproduced." in each for each in told] == [False, True]


@proves("json: workflow.functionDefinitions", "json: function definition.name", "json: function definition.definition")
@proves("json: step.functionReferences", "json: step.functionDefinitions", "json: loop step.functionDefinitions")
def test_a_function_is_explained_to_the_steps_that_refer_to_it(both: Benches) -> None:
    told = "Read the diff hunk by hunk."
    assert told not in prompt_of(both)
    assert told in prompt_of(both, USES, functionDefinitions=[FUNCTION])
    assert told in prompt_of(both, {**USES, "functionDefinitions": [FUNCTION]})
    counts = {"type": "for", "count": 1, "maxIterations": 1}
    loop = step("again", type="loop", loop=counts, body=[USES], functionDefinitions=[FUNCTION])
    assert told in prompt_of(both, loop)


@proves("json: function definition.parameters", "json: function parameter.name", "json: function parameter.type")
@proves("json: function parameter.required", "json: function parameter.description", "json: function parameter.enum")
@proves("json: function parameter.default")
@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, "depth"),
        ({"type": "number"}, "number"),
        ({"required": True}, "depth: string"),
        ({"description": "how far to look"}, "how far to look"),
        ({"enum": ["quick", "thorough"]}, "thorough"),
        ({"default": "shallow"}, "shallow"),
    ],
)
def test_parameters_of_a_function_are_explained(both: Benches, more: Json, told: str) -> None:
    def explained(*parameters: Json) -> str:
        text = prompt_of(both, USES, functionDefinitions=[{**FUNCTION, "parameters": list(parameters)}])
        return text.partition("# Definitions")[2].partition("\n#")[0]

    assert told not in explained(*([PARAMETER] if more else []))
    assert told in explained({**PARAMETER, **more})


@proves("json: step.functionCalls", "json: function call.name", "json: function call.args")
def test_a_call_of_a_function_is_told_with_its_arguments(both: Benches) -> None:
    calls = step(functionCalls=[{"name": "reviewDiff", "args": {"depth": "thorough"}}])
    plain, called = (prompt_of(both, each, functionDefinitions=[FUNCTION]) for each in (step(), calls))
    assert "thorough" not in plain
    assert "thorough" in called
    assert "reviewDiff" in called


@proves("json: function definition.scope")
def test_the_scope_of_a_function_decides_which_steps_know_it(both: Benches) -> None:
    outside = step("later", prompt="Use reviewDiff() again.")

    def later(**more: str) -> str:
        first = {**USES, "functionDefinitions": [{**FUNCTION, **more}]}
        return both(guided(first, outside)).prompts[1]

    assert "Read the diff hunk by hunk." not in later()
    assert "Read the diff hunk by hunk." in later(scope="workflow")


@proves("json: workflow.recommendedPreferences", "json: recommended preferences.recommendedAutonomy")
@proves("json: recommended preferences.recommendedRiskPolicy")
def test_recommended_preferences_are_told_to_who_runs_it(run: Benches) -> None:
    def shown(**more: str) -> str:
        bench = run.bench()
        head = {"recommendedPreferences": more} if more else {}
        name = bench.add(guided(step(), **head))
        return str(bench.call("inspect_workflow", workflowId=name, workspacePath=str(bench.work)).data)

    assert "full_auto_never_stop" not in shown()
    assert "full_auto_never_stop" in shown(recommendedAutonomy="full_auto_never_stop")
    assert "'aggressive'" in shown(recommendedRiskPolicy="aggressive")


@proves("json: workflow.modelTier", "json: step.modelTier")
def test_the_strength_of_a_model_is_told(both: Benches) -> None:
    assert "choose a heavy one" not in prompt_of(both)
    assert "choose a heavy one" in prompt_of(both, modelTier="heavy")
    assert "choose a lightweight one" in prompt_of(both, step(modelTier="lightweight"), modelTier="heavy")


@proves("json: workflow.metricsProfile")
def test_the_profile_of_figures_makes_a_workflow_easier_to_find(run: Benches) -> None:
    def found(**more: str) -> str:
        bench = run.bench()
        bench.add(guided(step(), **more))
        listed = bench.call("list_workflows", workspacePath=str(bench.work)).data["workflows"]
        return str(next(each for each in listed if each["workflowId"] == "guided-case"))

    assert found() != found(metricsProfile="review")
    assert "review" in found(metricsProfile="review")


@proves("json: workflow.features", "json: feature.id", "json: feature.config")
def test_features_add_their_texts_to_steps_in_blocks(both: Benches) -> None:
    blocks = step(promptBlocks={"goal": "A plan."})
    plain = prompt_of(both, blocks)
    short = prompt_of(both, blocks, features=["wr.features.durable_recap"])
    assert len(short) > len(plain) + 100
    config = {"id": "wr.features.capabilities", "config": {"required": ["delegation"]}}
    assert "delegation" not in plain
    assert "delegation" in prompt_of(both, blocks, features=[config])


@proves("json: workflow.capabilities")
def test_a_capability_is_asked_for(run: Benches) -> None:
    connected = Benches(run.folder / "connected", "connected")
    assert "web_browsing" not in connected(guided(step())).prompt
    assert "web_browsing" in connected(guided(step(), capabilities={"web_browsing": "required"})).prompt


@proves("json: workflow.references", "json: reference.id", "json: reference.title", "json: reference.source")
@proves("json: reference.purpose", "json: reference.authoritative", "json: reference.resolveFrom")
@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"title": "Other schema"}, "Other schema"),
        ({"source": "docs/other.json"}, "docs/other.json"),
        ({"purpose": "what counts"}, "what counts"),
        ({"id": "other-api"}, "other-api"),
        ({"authoritative": True}, "authoritative"),
    ],
)
def test_references_are_told_at_the_start(run: Benches, more: Json, told: str) -> None:
    connected = Benches(run.folder / "connected", "connected")
    files = {"spec/api.json": "{}", "docs/other.json": "{}"}

    def start(*references: Json) -> str:
        head = {"references": list(references)} if references else {}
        said = connected(guided(step(), **head), files=files).answers[0]
        return f"{said.text}{said.data.get('references', '')}".replace("'authoritative': False", "")

    assert "API schema" not in start()
    assert told not in start(REFERENCE)
    assert told in start({**REFERENCE, **more})


@proves("json: reference.resolveFrom")
def test_a_reference_of_the_package_is_looked_for_beside_the_workflow(run: Benches) -> None:
    connected = Benches(run.folder / "connected", "connected")

    def warned(**more: str) -> list[str]:
        found = connected(guided(step(), references=[{**REFERENCE, **more}]), files={"spec/api.json": "{}"})
        return found.answers[0].warnings

    assert "REFERENCE_UNRESOLVED" not in warned()
    assert "REFERENCE_UNRESOLVED" in warned(resolveFrom="package")


@proves("json: workflow.extensionPoints", "json: extension point.slotId", "json: extension point.default")
def test_a_slot_stands_for_what_it_is_bound_to(both: Benches) -> None:
    slot = {"slotId": "audit", "purpose": "how it is audited", "default": "routine-final-verification"}
    asks = step(prompt="Then use {{wr.bindings.audit}}.")
    assert "Then use routine-final-verification." in prompt_of(both, asks, extensionPoints=[slot])
    other = {**slot, "default": "routine-ideation"}
    assert "Then use routine-ideation." in prompt_of(both, asks, extensionPoints=[other])


@proves("json: extension point.acceptedKinds")
def test_a_slot_refuses_what_it_does_not_accept(both: Benches) -> None:
    asks = step(prompt="Then use {{wr.bindings.audit}}.")

    def prompt(**more: Any) -> str:
        slot = {"slotId": "audit", "purpose": "how it is audited", "default": "routine-ideation", **more}
        return prompt_of(both, asks, extensionPoints=[slot])

    assert "Then use routine-ideation." in prompt()
    assert "Then use routine-ideation." in prompt(acceptedKinds=["routine"])
    with pytest.raises((InvalidWorkflow, AssertionError)) as refused:
        prompt(acceptedKinds=["workflow"])
    said = refused.value.diagnostics if isinstance(refused.value, InvalidWorkflow) else refused.value
    assert "slot 'audit' is bound to 'routine-ideation', which is a routine" in str(said)


@proves("json: workflow.assessments", "json: assessment.id", "json: assessment.purpose", "json: assessment.dimensions")
@proves("json: dimension.id", "json: dimension.purpose", "json: dimension.levels", "json: step.assessmentRefs")
def test_an_assessment_is_demanded_in_its_own_words(both: Benches) -> None:
    dimension = {"id": "evidence", "purpose": "Does each claim name a file?", "levels": ["weak", "strong"]}
    judged = {"id": "quality", "purpose": "Is it good enough?", "dimensions": [dimension]}
    plain = both(guided(step(), assessments=[judged]))
    held = both(guided(step(assessmentRefs=["quality"]), assessments=[judged]))
    assert plain.status == "succeeded"
    assert held.status != "succeeded"
    for word in ("quality", "Is it good enough?", "evidence", "Does each claim name a file?", "weak", "strong"):
        assert word not in plain.prompt
        assert word in held.prompt
    gives = {"kind": "wr.assessment", "assessmentId": "quality"}
    right = {**gives, "dimensions": {"evidence": {"level": "strong", "rationale": "a.py:3"}}}
    done = both(
        guided(step(assessmentRefs=["quality"]), assessments=[judged]), plays={"look": Play(artifacts=(right,))}
    )
    assert done.status == "succeeded"


@proves("json: assessment.rationaleRequired", "json: dimension.required")
def test_reasons_and_dimensions_may_be_left_out_where_it_says_so(both: Benches) -> None:
    dimension = {"id": "evidence", "purpose": "Is it proven?", "levels": ["weak", "strong"]}
    gives = {"kind": "wr.assessment", "assessmentId": "quality"}

    def ended(assessment: Json, more: Json, dimensions: Json) -> str:
        judged = {"id": "quality", "purpose": "Good?", "dimensions": [{**dimension, **more}], **assessment}
        text = guided(step(assessmentRefs=["quality"]), assessments=[judged])
        return both(text, plays={"look": Play(artifacts=({**gives, "dimensions": dimensions},))}).status

    silent = {"evidence": {"level": "strong"}}
    assert ended({}, {}, silent) != "succeeded"
    assert ended({"rationaleRequired": False}, {}, silent) == "succeeded"
    other = {**dimension, "id": "risk"}
    assert ended({"dimensions": [dimension, other], "rationaleRequired": False}, {}, silent) != "succeeded"
    optional = [dimension, {**other, "required": False}]
    assert ended({"dimensions": optional, "rationaleRequired": False}, {}, silent) == "succeeded"


@proves("json: step.assessmentConsequences", "json: consequence.when", "json: consequence.effect")
@proves("json: consequence's trigger.anyEqualsLevel", "json: consequence's trigger.forAssessment")
@proves("json: consequence's effect.kind", "json: consequence's effect.guidance")
def test_a_level_sends_the_step_back_with_its_guidance(both: Benches) -> None:
    dimension = {"id": "evidence", "purpose": "Is it proven?", "levels": ["weak", "strong"]}
    judged = [
        {"id": name, "purpose": "Good?", "dimensions": [dimension], "rationaleRequired": False}
        for name in ("quality", "safety")
    ]
    gives = tuple(
        {"kind": "wr.assessment", "assessmentId": name, "dimensions": {"evidence": {"level": level}}}
        for name, level in (("quality", "weak"), ("safety", "strong"))
    )

    def told(**when: str) -> str:
        effect = {"kind": "require_followup", "guidance": "Read the code behind it."}
        more: Json = {"assessmentConsequences": [{"when": when, "effect": effect}]} if when else {}
        text = guided(step(assessmentRefs=["quality", "safety"], **more), assessments=judged)
        return both(text, plays={"look": Play(artifacts=gives)}).prompt

    guidance = "Read the code behind it."
    assert guidance not in told()
    assert guidance in told(anyEqualsLevel="weak")
    assert guidance in told(anyEqualsLevel="weak", forAssessment="quality")
    assert told(anyEqualsLevel="weak", forAssessment="safety").count(guidance) == 0
