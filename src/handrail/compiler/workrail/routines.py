"""Finds the routine that a template id refers to: the user's own first, then the library's."""

from handrail.authoring.readers.json_reader import read_json
from handrail.authoring.shapes.conform import conform
from handrail.authoring.workrail.schema import WORKFLOW
from handrail.compiler.catalog import Catalog
from handrail.compiler.workrail.tree import mappings, text, texts
from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.model.source import Mapping, Node

ROUTINE = "wr.templates.routine."
AUDIT = "wr.templates.audit."
PROBE = "wr.templates.capability_probe"
PROBE_ROUTINE = "capability-probe"


@frozen
class Routine:
    """The checked steps of a routine, and the guidance that applies to each of them."""

    steps: tuple[Mapping, ...]
    guidance: tuple[str, ...]


@frozen
class RoutineProblem:
    """Why a routine cannot be called, as the code and message of a diagnostic."""

    code: str
    reason: str


def routine_name(template_id: str) -> str | None:
    """Return the name of the routine that a template refers to."""
    if template_id == PROBE:
        return PROBE_ROUTINE
    if template_id.startswith(AUDIT):
        return "audit-" + template_id.removeprefix(AUDIT)
    return template_id.removeprefix(ROUTINE) if template_id.startswith(ROUTINE) else None


def template_ids(catalog: Catalog) -> tuple[str, ...]:
    """List the template ids of the library."""
    return tuple(_template_id(name) for name in catalog.builtins.routine_names())


def _template_id(name: str) -> str:
    if name == PROBE_ROUTINE:
        return PROBE
    return AUDIT + name.removeprefix("audit-") if name.startswith("audit-") else ROUTINE + name


def find_routine(name: str, catalog: Catalog) -> Routine | RoutineProblem | None:
    """Find a routine by its name without prefix; None when there is none."""
    findings = Report()
    root = _root(name, catalog, findings)
    if root is not None:
        conform(WORKFLOW, root, findings)
    first = next((found for found in findings if found.is_error), None)
    if first is not None:
        reason = f"its file has an error: {first.message} ({first.file}:{first.line})"
        return RoutineProblem("broken-routine", reason)
    return _check_routine(root) if isinstance(root, Mapping) else None


def _root(name: str, catalog: Catalog, findings: Report) -> Node | None:
    if catalog.routine is not None:
        return catalog.routine.root
    for own_id in (f"routine-{name}", f"wr.routine-{name}"):
        document = catalog.workflow(own_id)
        if document is not None and document.dialect == "workrail":
            return document.root
    source = catalog.builtins.routine(name)
    return read_json(source, findings) if source is not None else None


def _check_routine(root: Mapping) -> Routine | RoutineProblem:
    steps = mappings(root, "steps")
    for step in steps:
        if "templateCall" in step or "templateId" in step:
            return RoutineProblem("nested-template", f"its step '{text(step, 'id')}' calls a template itself")
        if "prompt" not in step:
            return RoutineProblem("broken-routine", f"its step '{text(step, 'id')}' has no 'prompt'")
    return Routine(steps, texts(root, "metaGuidance"))
