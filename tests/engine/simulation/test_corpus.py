"""Simulating finds what was planted in the corpus, and raises no false alarm on what is published."""

import re
from pathlib import Path

import pytest

from handrail.operations.workflows.simulate import simulate_plan
from handrail.sources.library import library_root
from support.compiler.native_case import compile_library, compile_text
from support.engine.simulating import CASES, case, expected, said, simulation_of
from support.places import WORKRAIL

pytestmark = pytest.mark.system  # takes long

DATA = WORKRAIL
INVALID = "dashboard-template-workflow.json"
PUBLISHED = sorted(path for path in DATA.rglob("*.json") if path.name != INVALID)
ROUTINES = sorted((library_root() / "routines").glob("*.json"))
WORKFLOWS = sorted(path.name for path in (library_root() / "workflows").iterdir() if path.is_dir())


def test_the_corpus_has_twenty_workflows_at_least() -> None:
    assert len(CASES) >= 20


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_exactly_what_was_planted_is_found(path: Path) -> None:
    assert said(case(path)) == expected(path)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_finding_names_its_line_and_says_what_to_do(path: Path) -> None:
    for each in case(path).findings:
        assert each.file == "workflow.yaml"
        assert each.line > 0
        assert each.finding.hint


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_of_the_library_has_no_fault(name: str) -> None:
    compiled, _, catalog = compile_library(name)
    assert compiled.plan is not None
    found = simulate_plan(compiled.plan, catalog, compiled.places)
    assert {each.finding.message for each in found.findings if each.finding.severity == "fault"} == set()
    assert not found.explored.cut
    assert {end.status for end in found.ends} >= {"succeeded", "blocked"}


@pytest.mark.parametrize("path", ROUTINES, ids=lambda path: path.stem)
def test_a_routine_of_the_library_has_no_fault(path: Path) -> None:
    assert _faults(path) == set()


@pytest.mark.skipif(not PUBLISHED, reason="the published workflow files are not on this machine")
@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.relative_to(DATA).as_posix())
def test_a_published_workflow_has_no_fault(path: Path) -> None:
    assert _faults(path) == set()


def test_the_cookbook_has_no_fault() -> None:
    pages = (library_root().parents[2] / "docs" / "cookbook").glob("*.md")
    page = "\n".join(path.read_text("utf-8") for path in pages)
    texts = [each for each in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if each.startswith("name:")]
    named = {text.split("\n", 1)[0].removeprefix("name: "): text for text in texts}
    assert len(named) >= 10
    for name, text in named.items():
        compiled, _, catalog = compile_text(text, workflows=named)
        assert compiled.plan is not None, name
        found = simulate_plan(compiled.plan, catalog, compiled.places)
        assert found.exit_code == 0, [each.finding.message for each in found.findings]


def _faults(path: Path) -> set[str]:
    found = simulation_of(path.read_text("utf-8"), "workflow.json")
    return {each.finding.message for each in found.findings if each.finding.severity == "fault"}
