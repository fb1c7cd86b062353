"""The result of a simulation as text."""

from collections.abc import Iterator
from textwrap import wrap

from handrail.cli.render.safe_text import escape_controls
from handrail.model.parts import walk_steps
from handrail.operations.views.money import budget_words
from handrail.operations.workflows.condition_text import bound_words
from handrail.operations.workflows.simulate import LocatedFinding, Simulation

WIDTH = 80
MAX_SHOWN = 12
"""The number of steps of a path that are shown; the middle of a longer one is left out."""


def render_simulation(found: Simulation) -> str:
    """Render what was found, the faults first."""
    lines = [*_head(found), *_findings(found), *_ends(found)]
    return "\n".join(escape_controls(line).rstrip() for line in lines)


def _head(found: Simulation) -> Iterator[str]:
    steps = [place for place, _ in walk_steps(found.plan.steps)]
    reached = sum(place in found.reachable_places for place in steps)
    yield f"{found.plan.name}  {found.path}"
    yield f"Steps      {reached} of {len(steps)} can be reached"
    most = budget_words(found.plan.budget)
    yield f"Calls      {bound_words(found.bound)}, {most or 'no limit on the cost'}"
    explored = f"all {_count(found.explored.states, 'state')}"
    if found.explored.cut:
        explored = f"only {_count(found.explored.states, 'state')}: raise --max-paths to explore the rest"
    yield f"Explored   {explored}"
    yield f"Longest    {_count(len(found.longest), 'move')}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _findings(found: Simulation) -> Iterator[str]:
    faults = [each for each in found.findings if each.finding.severity == "fault"]
    notes = [each for each in found.findings if each.finding.severity == "note"]
    yield ""
    yield f"Faults     {len(faults) or 'none'}"
    for each in faults:
        yield from _finding(each)
    if notes:
        yield ""
        yield f"Notes      {len(notes)}"
        for each in notes:
            yield from _finding(each)


def _finding(placed: LocatedFinding) -> Iterator[str]:
    finding = placed.finding
    where = f"{placed.file}:{placed.line}: " if placed.line else ""
    yield from _wrap_lines(f"{where}{finding.message} [{finding.code}]", "  ", "    ")
    yield from _wrap_lines(f"= {finding.hint}", "    ", "      ")
    if finding.path:
        yield from _wrap_lines(f"path: {_path(finding.path)}", "    ", "      ")


def _ends(found: Simulation) -> Iterator[str]:
    yield ""
    yield "A run can end"
    for each in found.ends:
        where = f" at {each.place}" if each.place else ""
        reason = f" ({each.reason})" if each.reason else ""
        word = {"blocked": "needs you", "succeeded": "done"}.get(each.status, each.status)
        yield from _wrap_lines(f"{word}{reason}{where}: {_path(each.path) or 'at once'}", "  ", "    ")


def _path(path: tuple[str, ...]) -> str:
    if len(path) > MAX_SHOWN:
        path = (*path[: MAX_SHOWN - 2], f"… {len(path) - MAX_SHOWN + 1} more …", path[-1])
    return " → ".join(path)


def _wrap_lines(text: str, first: str, later: str) -> list[str]:
    return wrap(text, WIDTH, initial_indent=first, subsequent_indent=later, break_on_hyphens=False)
