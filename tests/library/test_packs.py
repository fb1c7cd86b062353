"""The library's features, references, contracts, assessments and authoring spec are valid and fit together."""

import re
from pathlib import Path
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator

from handrail.model.codes import CODES
from support.library.library_files import (
    CONTRACTS,
    FEATURES,
    JSON_FILES,
    LIBRARY,
    load,
    maps_of,
    name_of,
    nodes_of,
    schema_errors,
)

REFS = {f"wr.refs.{path.stem}" for path in LIBRARY.glob("refs/*.md")}


@pytest.mark.parametrize(
    ("name", "sizes"), [("memory_context", (1, 0, 0)), ("capabilities", (3, 3, 3)), ("subagent_guidance", (3, 2, 2))]
)
def test_a_published_feature_adds_as_many_lines_as_its_original(name: str, sizes: tuple[int, int, int]) -> None:
    feature = load(LIBRARY / "features" / f"{name}.json")

    assert tuple(len(feature[section]) for section in ("constraints", "procedure", "verify")) == sizes


def test_every_feature_is_there_under_its_id() -> None:
    names = {
        "memory_context",
        "capabilities",
        "subagent_guidance",
        "output_contracts",
        "mode_guidance",
        "durable_recap",
    }

    assert {load(path)["id"] for path in FEATURES} == {f"wr.features.{name}" for name in names}
    assert {path.stem for path in FEATURES} == names


@pytest.mark.parametrize("path", JSON_FILES, ids=name_of)
def test_every_reference_that_is_used_exists(path: Path) -> None:
    used = {node["refId"] for node in maps_of(load(path)) if node.get("kind") == "ref"}

    assert used <= REFS


def test_every_published_reference_is_there_and_tight() -> None:
    names = {
        "memory_usage", "memory_store", "memory_query", "notes_first_durability", "synthesis_under_disagreement",
        "parallelize_cognition_serialize_synthesis", "adversarial_challenge_rules",
    }  # fmt: skip
    assert {f"wr.refs.{name}" for name in names} == REFS
    for name in names:
        sentences = re.findall(r"[.!?](?:\s|$)", (LIBRARY / "refs" / f"{name}.md").read_text(encoding="utf-8"))
        assert 2 <= len(sentences) <= 6, name


@pytest.mark.parametrize("path", FEATURES, ids=name_of)
def test_a_features_options_are_closed_have_valid_defaults_and_are_the_only_placeholders(path: Path) -> None:
    feature = load(path)
    config = cast("dict[str, Any]", feature["config"] or {"properties": {}})
    texts = [node for key in ("constraints", "procedure", "verify") for node in nodes_of(feature[key])]
    used = {name for text in texts if isinstance(text, str) for name in re.findall(r"\{([^{}]*)\}", text)}

    assert used <= {f"config.{name}" for name in config["properties"]}
    for option in config["properties"].values():
        assert schema_errors(option, option["default"]) == []
    if feature["config"] is not None:
        assert schema_errors(config, {}) == []
        assert schema_errors(config, {"no-such-option": 1})


def test_only_the_three_configurable_features_take_options() -> None:
    taking = {path.stem for path in FEATURES if load(path)["config"] is not None}

    assert taking == {"capabilities", "output_contracts", "mode_guidance"}


def test_every_contract_is_there() -> None:
    assert {path.stem for path in CONTRACTS} == {
        "loop_control", "assessment", "coordinator_signal", "review_verdict", "discovery_handoff", "shaping_handoff",
        "coding_handoff", "gate_verdict", "differentiation_handoff", "capability_observation", "workflow_divergence",
        "verification_report",
    }  # fmt: skip


@pytest.mark.parametrize("path", CONTRACTS, ids=name_of)
def test_a_contracts_example_is_valid_and_needs_its_kind(path: Path) -> None:
    pack = load(path)
    broken = {key: value for key, value in pack["example"].items() if key != "kind"}

    assert (pack["id"], pack["kind"]) == (f"wr.contracts.{path.stem}", f"wr.{path.stem}")
    Draft202012Validator.check_schema(pack["schema"])
    assert schema_errors(pack["schema"], pack["example"]) == []
    assert schema_errors(pack["schema"], broken) == ["'kind' is a required property"]
    assert schema_errors(pack["schema"], pack["example"] | {"kind": "wr.other"})


@pytest.mark.parametrize("path", CONTRACTS, ids=name_of)
def test_a_contract_refuses_every_missing_field_it_requires_and_unknown_ones(path: Path) -> None:
    pack = load(path)

    for field in pack["schema"]["required"]:
        assert schema_errors(pack["schema"], {key: pack["example"][key] for key in pack["example"] if key != field})
    assert schema_errors(pack["schema"], pack["example"] | {"surprise": True})


def test_a_review_finding_takes_further_fields_but_no_other_severity() -> None:
    pack = load(LIBRARY / "contracts/review_verdict.json")
    finding = {"severity": "major", "summary": "Lost update.", "file": "a.py", "anything": [1]}

    assert schema_errors(pack["schema"], pack["example"] | {"findings": [finding]}) == []
    assert schema_errors(pack["schema"], pack["example"] | {"findings": [finding | {"severity": "huge"}]})


def test_an_unavailable_capability_says_why() -> None:
    pack = load(LIBRARY / "contracts/capability_observation.json")
    missing = pack["example"] | {"status": "unavailable"}

    assert schema_errors(pack["schema"], missing) == ["'failureCode' is a required property"]
    assert schema_errors(pack["schema"], missing | {"failureCode": "tool_missing"}) == []
    assert schema_errors(pack["schema"], missing | {"method": "claim"}) == []
    assert schema_errors(pack["schema"], pack["example"] | {"failureCode": "tool_error"})


def test_a_ready_verdict_needs_every_claim_proven() -> None:
    pack = load(LIBRARY / "contracts/verification_report.json")
    unproven = [pack["example"]["claims"][0] | {"status": "unproven"}]

    assert schema_errors(pack["schema"], pack["example"] | {"verdict": "ready"}) == []
    assert schema_errors(pack["schema"], pack["example"] | {"verdict": "ready", "claims": unproven})
    assert schema_errors(pack["schema"], pack["example"] | {"verdict": "not_ready", "claims": unproven}) == []


@pytest.mark.parametrize("path", sorted(LIBRARY.glob("assessments/*.json")), ids=name_of)
def test_an_assessment_keeps_to_the_formats_limits(path: Path) -> None:
    assessment = load(path)

    assert len(assessment["id"]) <= 64
    for part in (assessment, *assessment["dimensions"]):
        assert 1 <= len(part["purpose"]) <= 256
    for dimension in assessment["dimensions"]:
        assert dimension["levels"] == ["low", "medium", "high"]
        assert all(f"{level}:" in dimension["purpose"] for level in dimension["levels"])


def test_the_confidence_assessment_has_five_dimensions() -> None:
    assessment = load(LIBRARY / "assessments/confidence.json")

    assert assessment["id"] == "wr.assessments.confidence"
    assert [dimension["id"] for dimension in assessment["dimensions"]] == [
        "boundary_confidence",
        "context_confidence",
        "policy_context_confidence",
        "evidence_confidence",
        "validation_confidence",
    ]


# The authoring spec


def test_the_authoring_spec_is_versioned_and_its_rules_are_complete() -> None:
    spec = load(LIBRARY / "authoring-spec.json")
    rules: list[dict[str, Any]] = spec["rules"]

    assert spec["version"] == 1
    assert 25 <= len(rules) <= 45
    assert len({rule["id"] for rule in rules}) == len(rules)
    for rule in rules:
        assert list(rule) == ["id", "level", "topic", "rule", "why", "checked_by"]
        assert rule["level"] in {"required", "recommended", "discouraged"}
        assert rule["rule"].endswith(".")
        assert rule["why"].endswith(".")
        assert rule["checked_by"] is None or rule["checked_by"] in CODES
