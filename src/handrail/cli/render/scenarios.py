"""Outcomes of scenarios for people: a line for each, and for a failure what differs from the expectation."""

import shlex
from collections.abc import Iterator, Sequence

import click

from handrail.cli.render.safe_text import crop, escape_controls, escape_lines
from handrail.operations.scenarios.problems import Problem
from handrail.operations.scenarios.suite import Outcome
from handrail.operations.scenarios.trace import Visit

MARKS = {
    "succeeded": ("✓", "green"),
    "approve": ("✓", "green"),
    "failed": ("✗", "red"),
    "reject": ("✗", "red"),
    "needs you": ("?", "yellow"),
    "asked": ("?", "yellow"),
    "running": ("?", "yellow"),
    "revise": ("↺", "yellow"),
    "skipped": ("–", "bright_black"),
}
SAID = {"approve": "approved", "reject": "rejected", "revise": "sent back", "skipped": "skipped"}
MAX_LENGTH = 100
MAX_STEPS = 40
COLOURS = {"-": "red", "+": "green", " ": None}


def render_outcome(outcome: Outcome) -> str:
    """Render the line of a scenario, and everything about a failure."""
    name = escape_controls(outcome.scenario.name)
    if outcome.scenario.skip:
        return f"  – {name}   skipped: {escape_controls(outcome.scenario.skip)}"
    mark, colour = MARKS["succeeded" if outcome.ok else "failed"]
    stands_in = f"   replaced: {escape_controls(', '.join(outcome.replaced))}" if outcome.replaced else ""
    lines = [f"  {click.style(mark, fg=colour)} {name}   {outcome.seconds:.1f}s{stands_in}"]
    for problem in outcome.problems:
        lines += [f"      {line}".rstrip() for line in _problem(problem)]
    if outcome.problems:
        lines += [f"      {line}" for line in _path_lines(outcome.visits)]
        lines.append(f"      next: {_next(outcome)}")
    if outcome.kept:
        lines.append(f"      kept: {escape_controls(outcome.kept)}")
    return "\n".join(lines)


def render_summary(outcomes: Sequence[Outcome], seconds: float) -> str:
    """Render the last line."""
    failed = sum(1 for each in outcomes if not each.ok)
    skipped = sum(1 for each in outcomes if each.scenario.skip)
    counts = [(len(outcomes) - failed - skipped, "passed"), (failed, "failed"), (skipped, "skipped")]
    said = ", ".join(f"{number} {word}" for number, word in counts if number or word == "passed")
    return f"{click.style(said, fg='red' if failed else 'green', bold=True)} in {seconds:.1f}s"


def _problem(problem: Problem) -> Iterator[str]:
    place = click.style(f"{escape_controls(problem.file)}:{problem.line}", bold=True)
    yield f"{place}: {escape_controls(problem.what)}"
    for mark, text in problem.difference:
        yield click.style(f"  {mark} {escape_controls(text)}".rstrip(), fg=COLOURS.get(mark))
    yield from _label_lines("expected", problem.expected)
    yield from _label_lines("happened", problem.happened)
    if problem.hint:
        yield f"  = {escape_controls(problem.hint)}"
    if problem.add:
        yield "  add:"
        yield from (f"    {line}" for line in escape_lines(problem.add))


def _label_lines(name: str, text: str) -> Iterator[str]:
    for number, line in enumerate(escape_lines(text.rstrip("\n")) if text else ()):
        yield f"  {name if not number else '':8}  {line}".rstrip()


def _path_lines(visits: Sequence[Visit]) -> Iterator[str]:
    """Render the path that the run really took; of a long one only the end."""
    if not visits:
        return
    yield "walked:"
    if len(visits) > MAX_STEPS:
        yield f"  ... {len(visits) - MAX_STEPS} earlier steps"
    for visit in visits[-MAX_STEPS:]:
        mark, colour = MARKS.get(visit.status, ("?", "yellow"))
        words = [SAID.get(visit.status, ""), f"{visit.tries} tries" if visit.tries > 1 else "", visit.words]
        told = ": ".join(escape_controls(each.strip()) for each in words if each.strip())
        line = crop(f"{escape_controls(visit.address)}   {told}".rstrip(), MAX_LENGTH)
        yield f"  {click.style(mark, fg=colour)} {line}"


def _next(outcome: Outcome) -> str:
    """Return the command that shows more."""
    if outcome.kept:
        home = shlex.quote(f"{outcome.kept}/home")
        return f"HANDRAIL_HOME={home} handrail logs {outcome.run}"
    words = shlex.quote(outcome.scenario.name)
    return f"handrail test {shlex.quote(outcome.scenario.file)} -k {words} --keep"
