"""The result of a simulation as JSON data."""

from typing import Any

from handrail.cli.render.inspection_data import bound_data
from handrail.model.parts import walk_steps
from handrail.operations.workflows.simulate import LocatedFinding, Simulation


def simulation_data(found: Simulation) -> dict[str, Any]:
    """Convert the result of a simulation to JSON data."""
    budget = found.plan.budget
    return {
        "workflow": found.plan.name,
        "path": found.path,
        "states": found.explored.states,
        "complete": not found.explored.cut,
        "steps": [
            {"step": place, "reached": place in found.reachable_places} for place, _ in walk_steps(found.plan.steps)
        ],
        "findings": [_finding(each) for each in found.findings],
        "ends": [
            {"status": each.status, "reason": each.reason or None, "step": each.place or None, "path": list(each.path)}
            for each in found.ends
        ],
        "agent_calls": bound_data(found.bound),
        "usd": None if budget is None else budget.usd,
        "longest_path": list(found.longest),
    }


def _finding(placed: LocatedFinding) -> dict[str, Any]:
    finding = placed.finding
    return {
        "code": finding.code,
        "severity": finding.severity,
        "step": finding.place,
        "file": placed.file or None,
        "line": placed.line or None,
        "message": finding.message,
        "hint": finding.hint,
        "path": list(finding.path),
    }
