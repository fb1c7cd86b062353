"""The feature about capabilities and the key `capabilities` say one thing, and the engine holds to that."""

from typing import Any

import pytest

from handrail.model.workflow.guidance import Capability, FeatureUse
from support.compiler.workrail_building import Result, compiled, marked, step

FEATURE = "wr.features.capabilities"
REQUIRED, PREFERRED = Capability("web_browsing", "required"), Capability("web_browsing", "preferred")


def built(config: dict[str, Any] | None = None, capabilities: dict[str, Any] | None = None) -> Result:
    keys: dict[str, Any] = {} if capabilities is None else {"capabilities": capabilities}
    use = FEATURE if config is None else {"id": FEATURE, "config": config}
    return compiled(step(promptBlocks={"goal": "g"}), features=[use], **keys)


def line(result: Result) -> str:
    return next(each for each in result.action().prompt.text.splitlines() if "required here" in each)


def test_the_text_of_the_feature_lists_what_the_workflow_declares() -> None:
    result = built(capabilities={"web_browsing": "required"})
    assert "required here: [web_browsing]; preferred: []." in line(result)
    assert result.guided.capabilities == (REQUIRED,)
    config: dict[str, Any] = {"preferred": [], "probeVisibility": "collapsed", "recordObservationsAs": "artifact"}
    assert result.guided.features == (FeatureUse(FEATURE, {**config, "required": ["web_browsing"]}),)


def test_what_the_settings_of_the_feature_name_is_held_to() -> None:
    result = built({"required": ["web_browsing"]})
    assert "required here: [web_browsing]; preferred: []." in line(result)
    assert result.guided.capabilities == (REQUIRED,)


def test_what_the_feature_only_assumes_is_not_held_to() -> None:
    result = built()
    assert "required here: []; preferred: [delegation, web_browsing]." in line(result)
    assert result.guided.capabilities == ()


def test_both_places_together_make_one_list() -> None:
    result = built({"preferred": ["web_browsing"]}, {"delegation": "required"})
    assert "required here: [delegation]; preferred: [web_browsing]." in line(result)
    assert result.guided.capabilities == (Capability("delegation", "required"), PREFERRED)


def test_what_the_workflow_disables_the_feature_does_not_ask_for() -> None:
    result = built(capabilities={"web_browsing": "disabled", "delegation": "preferred"})
    assert "required here: []; preferred: [delegation]." in line(result)


@pytest.mark.parametrize("level", ["preferred", "disabled"])
def test_a_contradiction_is_reported_and_the_workflow_counts(level: str) -> None:
    result = built({"required": ["web_browsing"]}, {"web_browsing": level})
    assert result.only.code == "capability-conflict"
    assert marked(result.only) == '"web_browsing"'
    assert "required here: []" in line(result)
    assert result.guided.capabilities == ((PREFERRED,) if level == "preferred" else ())


def test_a_feature_that_contradicts_itself_is_reported() -> None:
    result = built({"required": ["web_browsing"], "preferred": ["web_browsing"]})
    assert result.codes == ["capability-conflict"]
    assert result.guided.capabilities == (REQUIRED,)
