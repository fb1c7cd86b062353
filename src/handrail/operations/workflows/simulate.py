"""Simulates a workflow: finds and compiles it with all it calls, explores it, and locates each finding."""

from collections.abc import Sequence
from dataclasses import replace

from handrail.compiler.bounds import Bound, count_agent_calls
from handrail.compiler.catalog import Catalog
from handrail.compiler.compile import compile_document
from handrail.compiler.outcome import StepPositions
from handrail.compiler.record_types import result_type
from handrail.engine.simulation.explore import DEFAULT_STATES, Exploration, explore
from handrail.engine.simulation.findings import Finding, findings
from handrail.engine.simulation.graph import longest_path
from handrail.engine.simulation.world import End, StateBudget
from handrail.frozen import frozen
from handrail.model.parts import walk_steps
from handrail.model.workflow.actions import CallAction
from handrail.model.workflow.plan import Plan
from handrail.operations.workflows.check import check, require_valid
from handrail.operations.workflows.find_targets import find_one_workflow
from handrail.operations.workflows.inputs import parse_given_values
from handrail.sources.open_workflow import catalog_for
from handrail.sources.tiers import Location

__all__ = ["DEFAULT_STATES", "LocatedFinding", "Simulation", "simulate", "simulate_plan"]


@frozen
class LocatedFinding:
    """A finding, with the file and line that it is about; the line is 0 if there is none."""

    finding: Finding
    file: str = ""
    line: int = 0


@frozen(kw_only=True)
class Simulation:
    """What walking every branch of a workflow showed."""

    plan: Plan
    path: str = ""
    explored: Exploration
    findings: tuple[LocatedFinding, ...]
    bound: Bound
    longest: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """The exit code: 0, or 1 if there is a fault."""
        return 1 if any(each.finding.severity == "fault" for each in self.findings) else 0

    @property
    def reachable_places(self) -> frozenset[str]:
        """The places of the steps that can be reached."""
        return frozenset(self.explored.facts.begun)

    @property
    def ends(self) -> tuple[End, ...]:
        """The ways in which a run may end, each with its shortest path."""
        found: dict[tuple[str, str, str], End] = {}
        for end in self.explored.ends:
            found.setdefault((end.status, end.reason, end.place), end)
        order = ("succeeded", "failed", "blocked")
        return tuple(sorted(found.values(), key=lambda end: order.index(end.status) if end.status in order else 3))


def simulate(place: Location, name_or_path: str, given: Sequence[str] = (), most: int = DEFAULT_STATES) -> Simulation:
    """Find a workflow and walk every branch of it; inputs that are not passed take every value that matters."""
    catalog = catalog_for(place)
    checked = check(place, find_one_workflow(place, name_or_path), catalog)
    plan = require_valid(place, checked).plan
    places = checked.compiled.places if checked.compiled is not None else StepPositions()
    return replace(simulate_plan(plan, catalog, places, given, most), path=place.display_path(checked.found.main))


def simulate_plan(
    plan: Plan,
    catalog: Catalog,
    places: StepPositions,
    given: Sequence[str] = (),
    most: int = DEFAULT_STATES,
) -> Simulation:
    """Walk every branch of a plan."""
    explored = explore(
        plan,
        result_type,
        _compile_called_workflows(plan, catalog),
        parse_given_values(plan.inputs, given),
        StateBudget(most),
    )
    return Simulation(
        plan=plan,
        explored=explored,
        findings=tuple(_locate_finding(each, places) for each in findings(plan, explored)),
        bound=count_agent_calls(plan, catalog),
        longest=longest_path(explored),
    )


def _compile_called_workflows(plan: Plan, catalog: Catalog) -> dict[str, Plan]:
    """Compile the workflows that are called, and those that they call."""
    found: dict[str, Plan] = {}
    waiting = [plan]
    while waiting:
        for _, step in walk_steps(waiting.pop().steps):
            name = step.action.workflow if isinstance(step.action, CallAction) else ""
            document = catalog.workflow(name) if name and name not in found else None
            called = compile_document(document, catalog).plan if document is not None else None
            if called is not None:
                found[name] = called
                waiting.append(called)
    return found


def _locate_finding(finding: Finding, places: StepPositions) -> LocatedFinding:
    span = places.find(finding.place, finding.key) if finding.key else places.find(finding.place)
    if span is None:
        return LocatedFinding(finding)
    return LocatedFinding(finding, span.source.path, span.source.position(span.start).line)
