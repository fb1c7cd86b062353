"""Simulates texts: the cases of the corpus with what is expected of them, and workflows in WorkRail's form."""

from functools import cache
from pathlib import Path

from handrail.operations.workflows.simulate import Simulation, simulate_plan
from support.compiler.native_case import compile_text, shown
from support.places import CORPUS

SIMULATE = CORPUS / "simulate"
CASES = sorted(SIMULATE.glob("*.yaml"))
EXPECT = "# expect: "


@cache
def simulation_of(text: str, main: str = "workflow.yaml") -> Simulation:
    """Compile a text and walk all of it."""
    compiled, _, catalog = compile_text(text, main=main)
    assert compiled.plan is not None, shown(compiled.diagnostics)
    return simulate_plan(compiled.plan, catalog, compiled.places)


def case(path: Path) -> Simulation:
    """Walk a case of the corpus."""
    return simulation_of(path.read_text("utf-8"))


def expected(path: Path) -> set[str]:
    """Give what a case of the corpus is expected to show: severity, code and step."""
    lines = path.read_text("utf-8").splitlines()
    return {line.removeprefix(EXPECT) for line in lines if line.startswith(EXPECT)} - {"nothing"}


def said(found: Simulation) -> set[str]:
    """Give the same of what was found."""
    return {f"{each.finding.severity} {each.finding.code} {each.finding.place}" for each in found.findings}
