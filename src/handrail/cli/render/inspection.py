"""The details of one workflow as text."""

import shlex
from collections.abc import Iterator, Mapping
from textwrap import wrap

from handrail.cli.render.inspection_data import inspection_data
from handrail.cli.render.safe_text import escape_controls
from handrail.model.workflow.plan import Input
from handrail.operations.workflows.condition_text import bound_words, default_text, input_type
from handrail.operations.workflows.inspect import Inspection, UsedFile
from handrail.operations.workflows.list import WorkflowEntry
from handrail.operations.workflows.outline import OutlineStep

__all__ = ["inspection_data", "render_inspection"]

REVIEWED = {
    "none": "against the current authoring spec",
    "likely": "against another authoring spec",
    "possible": "never",
}
WIDTH = 80
EMPTY_CONTEXT = "this workflow is written in Python; it is shown as it is without inputs"


def render_inspection(found: Inspection) -> str:
    """Render everything about a workflow, section by section."""
    lines = [*_head(found), *_inputs(found.inputs), *_section("Steps", _steps(found.steps, 1))]
    lines += _section("Names", _names(found.steps))
    lines += _section("Files", (_file(each) for each in found.files))
    references = (f"  {each.id}  {each.source}  {each.title}" for each in found.references)
    lines += _section("References", references)
    return "\n".join(escape_controls(line).rstrip() for line in lines)


def _head(found: Inspection) -> Iterator[str]:
    about = found.about
    yield f"{about.name}  ({about.tier}, {about.form}{'' if about.valid else ', invalid'})"
    yield from wrap(about.description, WIDTH, initial_indent="  ", subsequent_indent="  ")
    facts = {
        "Pinned": about.hash,
        "Path": about.path,
        "Calls": bound_words(found.bound) if found.bound is not None else None,
        "Starts": ", ".join(found.calls),
        "Hides": ", ".join(about.shadows),
        "Hidden by": about.shadowed_by,
        "Trust": found.trust.reason if found.trust is not None else None,
        "Reviewed": _review(about),
        "Note": EMPTY_CONTEXT if about.form == "python" and about.valid else None,
    }
    for name, fact in facts.items():
        if fact:
            yield f"{name:<10} {fact}"


def _review(about: WorkflowEntry) -> str | None:
    if about.staleness is None:
        return None
    typed = shlex.quote(about.name)
    way = "" if about.staleness == "none" else f" (handrail lint {typed}, then handrail stamp {typed})"
    return f"{REVIEWED[about.staleness]}{way}"


def _section(title: str, lines: Iterator[str]) -> list[str]:
    body = list(lines)
    return ["", title, *body] if body else []


def _inputs(inputs: tuple[Input, ...]) -> list[str]:
    width = max((len(each.name) for each in inputs), default=0)
    return _section("Inputs", (f"  {each.name:<{width}}  {_input(each)}" for each in inputs))


def _input(declared: Input) -> str:
    said = input_type(declared)
    said += ", required" if declared.required else f" = {default_text(declared)}"
    return f"{said}   {declared.description}"


def _steps(steps: tuple[OutlineStep, ...], depth: int) -> Iterator[str]:
    width = max((len(step.name) for step in steps), default=0)
    for step in steps:
        yield f"{'  ' * depth}{step.name:<{width}}  {', '.join(_step_details(step))}"
        yield from _steps(step.steps, depth + 1)


def _step_details(step: OutlineStep) -> Iterator[str]:
    yield f"{step.kind}: {step.says}" if step.says else step.kind
    if step.hidden:
        yield f"{step.hidden} steps (--expand shows them)"
    yield from step.agents
    if step.when is not None:
        yield f"when {step.when}"
    if step.output is not None:
        yield f"gives {step.output}"
    if step.injected is not None:
        yield f"from {step.injected.by}: {step.injected.why}"


def _names(steps: tuple[OutlineStep, ...]) -> Iterator[str]:
    """List the names that each step may use; a type is shown once, where its name first appears."""
    scopes = list(_scopes(steps))
    if not scopes:
        return
    common = {name for name in scopes[0][1] if all(name in names for _, names in scopes)}
    yield from _wrap_names("every step", sorted(common))
    said: set[tuple[str, str]] = set()
    for address, names in scopes:
        own = [(name, words) for name, words in names.items() if name not in common]
        if own:
            yield from _wrap_names(
                address, [name if (name, words) in said else f"{name} ({words})" for name, words in own]
            )
        said.update(own)


def _wrap_names(title: str, names: list[str]) -> list[str]:
    text = f"{title}: {', '.join(names)}"
    return wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def _scopes(steps: tuple[OutlineStep, ...]) -> Iterator[tuple[str, Mapping[str, str]]]:
    for step in steps:
        yield step.address, step.names
        yield from _scopes(step.steps)


def _file(file: UsedFile) -> str:
    version = f"  {file.version}" if file.version else ""
    users = f"  used by {', '.join(file.used_by)}" if file.used_by else ""
    return f"  {file.role:<6}  {file.path}{version}{users}"
