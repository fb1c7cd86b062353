"""The library's routines keep to the format's limits, and the published callers of three of them still fit."""

import re
from pathlib import Path
from typing import Any

import pytest

from support.library.library_files import LIBRARY, ROOT, ROUTINES, load, maps_of, name_of

DATA = ROOT / ".." / "shared" / "data" / "workrail-3.29"
CALLED_ROUTINES = ("tension-driven-design", "design-review", "final-verification")
ARGUMENT = re.compile(r"(?<!\{)\{([^{}]+)\}(?!\})")

EXPECTED_ROUTINES = {
    "context-gathering", "design-review", "execution-simulation", "feature-implementation", "feedback-resolution",
    "final-verification", "hypothesis-challenge", "ideation", "parallel-work-partitioning", "philosophy-alignment",
    "plan-analysis", "plan-generation", "reviewer-family", "tension-driven-design", "capability-probe",
    "audit-context-completeness", "audit-depth", "audit-adversarial-challenge", "audit-philosophy-alignment",
    "audit-final-verification",
}  # fmt: skip


def _arguments(routine: dict[str, Any]) -> set[str]:
    texts = (step["title"] + step["prompt"] for step in routine["steps"])
    return {name for text in texts for name in ARGUMENT.findall(text)}


def test_every_routine_is_there_under_its_id() -> None:
    assert {path.stem for path in ROUTINES} == EXPECTED_ROUTINES
    assert {load(path)["id"] for path in ROUTINES} == {f"routine-{name}" for name in EXPECTED_ROUTINES}


@pytest.mark.parametrize("path", ROUTINES, ids=name_of)
def test_a_routine_keeps_to_the_formats_limits(path: Path) -> None:
    routine = load(path)

    assert re.fullmatch(r"\d+\.\d+\.\d+", routine["version"])
    assert 1 <= len(routine["name"]) <= 128
    assert 1 <= len(routine["description"]) <= 512
    for key in ("metaGuidance", "preconditions", "clarificationPrompts"):
        texts = routine.get(key, [])
        assert all(1 <= len(text) <= 256 for text in texts)
        assert len(set(texts)) == len(texts)
    if "examples" in routine:
        assert 1 <= len(routine["examples"]) <= 6
        assert all(10 <= len(text) <= 120 for text in routine["examples"])


@pytest.mark.parametrize("path", ROUTINES, ids=name_of)
def test_a_routines_steps_keep_to_the_formats_limits(path: Path) -> None:
    steps = load(path)["steps"]

    assert len({step["id"] for step in steps}) == len(steps)
    for step in steps:
        assert re.fullmatch(r"[a-z0-9-]{3,64}", step["id"])
        assert 1 <= len(step["title"]) <= 128
        assert 1 <= len(step["prompt"]) <= 8192
        assert 10 <= len(step["agentRole"]) <= 1024
        assert "templateCall" not in step
        assert "promptBlocks" not in step


@pytest.mark.parametrize("path", ROUTINES, ids=name_of)
def test_a_routine_uses_only_keys_of_the_format(path: Path) -> None:
    routine = load(path)

    assert routine.keys() <= {"id", "name", "version", "description", "preconditions", "metaGuidance", "steps"}
    for step in routine["steps"]:
        assert step.keys() <= {"id", "title", "agentRole", "prompt", "requireConfirmation", "outputContract"}


@pytest.mark.parametrize("path", ROUTINES, ids=name_of)
def test_a_routine_reads_no_context_variable_and_names_its_arguments(path: Path) -> None:
    routine = load(path)

    assert all("{{" not in step["prompt"] + step["title"] for step in routine["steps"])
    for argument in _arguments(routine):
        assert any(argument in text for text in routine["preconditions"])


@pytest.mark.parametrize("path", sorted(LIBRARY.glob("routines/audit-*.json")), ids=name_of)
def test_an_audit_scores_with_evidence_and_derives_the_next_action(path: Path) -> None:
    last = load(path)["steps"][-1]["prompt"]

    assert len(re.findall(r"^- [A-Z][a-z -]+\. 2: .* 1: .* 0: ", last, re.MULTILINE)) >= 4
    assert "A score without evidence is 0" in last
    for action in ("return", "follow-up", "continue-disclosed", "continue"):
        assert f"`{action}`" in last


def test_the_probe_observes_both_capabilities_by_contract() -> None:
    steps = load(LIBRARY / "routines/capability-probe.json")["steps"]

    assert [re.findall(r"capability `(\w+)`", step["prompt"]) for step in steps] == [["delegation"], ["web_browsing"]]
    assert {step["outputContract"]["contractRef"] for step in steps} == {"wr.contracts.capability_observation"}


@pytest.mark.skipif(not DATA.is_dir(), reason="the published workflow files are not on this machine")
@pytest.mark.parametrize("name", CALLED_ROUTINES)
def test_every_published_caller_passes_the_arguments_of_a_routine(name: str) -> None:
    wanted = _arguments(load(LIBRARY / "routines" / f"{name}.json"))
    nodes = (node for path in DATA.rglob("*.json") for node in maps_of(load(path)))
    calls = [node for node in nodes if node.get("templateId") == f"wr.templates.routine.{name}"]

    assert calls
    assert wanted == {"deliverableName"}
    assert all(wanted <= call["args"].keys() for call in calls)
