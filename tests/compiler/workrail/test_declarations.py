from typing import Any

import pytest

from handrail.compiler.fingerprint import fingerprint
from handrail.compiler.workrail.declarations import path_problem
from handrail.model.workflow.guidance import Capability, Reference
from support.compiler.workrail_building import compiled, marked, step

BOTH = (Capability("delegation", "required"), Capability("web_browsing", "preferred"))


def reference(source: str = "docs/guide.md", **keys: Any) -> dict[str, Any]:
    return {
        "id": "guide",
        "title": "Guide",
        "source": source,
        "purpose": "To know.",
        "authoritative": True,
        **keys,
    }


def test_a_plan_takes_its_name_from_the_id_and_scans_again_after_each_step() -> None:
    plan = compiled().made
    assert (plan.name, plan.description, plan.selection) == ("sample-flow", "A sample.", "rescan")


def test_texts_of_the_workflow_are_kept() -> None:
    guided = compiled(
        about="At length.",
        examples=["Review this change"],
        tags=["coding"],
        preconditions=["A clean tree"],
        clarificationPrompts=["Which one?"],
        metaGuidance=["Be brief"],
    ).guided
    assert (guided.title, guided.version, guided.about) == ("Sample", "1.0.0", "At length.")
    assert (guided.examples, guided.tags) == (("Review this change",), ("coding",))
    assert (guided.preconditions, guided.clarification_prompts) == (("A clean tree",), ("Which one?",))
    assert guided.meta_guidance == ("Be brief",)


def test_the_version_is_a_label_and_no_part_of_the_pinned_hash() -> None:
    first, second = compiled(version="1.0.0"), compiled(version="2.0.0")
    assert (first.guided.version, second.guided.version) == ("1.0.0", "2.0.0")
    assert fingerprint(first.made) == fingerprint(second.made)
    assert fingerprint(first.made) != fingerprint(compiled(about="More.").made)


def test_preferences_and_profiles_are_kept() -> None:
    preferences = {"recommendedAutonomy": "guided", "recommendedRiskPolicy": "balanced"}
    guided = compiled(recommendedPreferences=preferences, metricsProfile="review", modelTier="mid").guided
    assert (guided.autonomy, guided.risk_policy) == ("guided", "balanced")
    assert (guided.metrics_profile, guided.model_tier) == ("review", "mid")


def test_the_stamp_of_the_authoring_spec_is_kept() -> None:
    assert compiled(validatedAgainstSpecVersion=3).made.validated_against == 3


def test_the_workflows_role_holds_for_steps_without_their_own() -> None:
    result = compiled(
        step("one-step"), step("two-step", agentRole="A careful tester."), agentRole="A careful reviewer."
    )
    assert result.guided.agent_role == "A careful reviewer."
    assert [result.action(index).agent_role for index in (0, 1)] == ["A careful reviewer.", "A careful tester."]


def test_the_workflows_tier_holds_for_steps_without_their_own() -> None:
    result = compiled(step("one-step"), step("two-step", modelTier="heavy"), modelTier="mid")
    assert [result.action(index).model_tier for index in (0, 1)] == ["mid", "heavy"]


@pytest.mark.parametrize(
    "written",
    [
        {"web_browsing": "preferred", "delegation": "required"},
        {"delegation": "required", "web_browsing": "preferred"},
        {"preferred": ["web_browsing"], "required": ["delegation"]},
        {"required": ["delegation"], "web_browsing": "preferred"},
    ],
)
def test_capabilities_are_the_same_in_every_form_and_order(written: dict[str, Any]) -> None:
    assert compiled(capabilities=written).guided.capabilities == BOTH


def test_a_disabled_capability_is_as_if_it_were_not_there() -> None:
    assert compiled(capabilities={"delegation": "disabled"}).guided.capabilities == ()
    assert compiled(capabilities={"disabled": ["delegation"]}).guided.capabilities == ()


def test_a_capability_with_two_levels_is_refused() -> None:
    result = compiled(capabilities={"required": ["delegation"], "delegation": "preferred"})
    assert result.only.message == "capability 'delegation' is both required and preferred"


def test_an_unknown_capability_is_a_warning() -> None:
    result = compiled(capabilities={"web_browsng": "preferred"})
    assert (result.only.code, result.only.message) == (
        "unknown-capability",
        "unknown capability 'web_browsng', did you mean 'web_browsing'?",
    )
    assert result.plan is not None


def test_a_list_under_a_capability_is_refused() -> None:
    assert compiled(capabilities={"delegation": ["required"]}).codes == ["bad-value"]


def test_an_unknown_level_is_refused() -> None:
    assert compiled(capabilities={"delegation": "maybe"}).codes == ["bad-value"]


def test_references_are_kept() -> None:
    result = compiled(references=[reference(resolveFrom="package")])
    assert result.guided.references == (
        Reference("guide", "Guide", "docs/guide.md", "To know.", authoritative=True, resolve_from="package"),
    )


def test_a_reference_starts_at_the_workspace_unless_said() -> None:
    assert compiled(references=[reference()]).guided.references[0].resolve_from == "workspace"


@pytest.mark.parametrize("path", ["docs/a.md", "./spec/x.json", "a..b/c", "...", "docs/with space.md"])
def test_paths_below_the_folder_are_fine(path: str) -> None:
    assert path_problem(path) is None


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../x", "a/../../x", "..", "a\\b", "C:/x", "c:x", "a\0b", "//host/share"]
)
def test_paths_that_lead_elsewhere_are_refused(path: str) -> None:
    result = compiled(references=[reference(path)])
    assert result.codes == ["path-escape"]


def test_a_path_that_leads_elsewhere_is_marked() -> None:
    assert marked(compiled(references=[reference("../x")]).only) == '"../x"'


def test_a_reference_declared_twice_is_refused() -> None:
    assert compiled(references=[reference(), reference()]).codes == ["duplicate-reference"]
