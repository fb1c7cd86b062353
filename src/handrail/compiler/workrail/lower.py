"""Compiles the tree of a WorkRail-style workflow to its plan: shape, passes, checks, lowering."""

from typing import cast

from handrail.authoring.shapes.conform import conform
from handrail.authoring.workrail.schema import WORKFLOW
from handrail.compiler.catalog import Catalog
from handrail.compiler.outcome import StepPositions
from handrail.compiler.workrail.assessments import lower_assessments
from handrail.compiler.workrail.declarations import lower_workflow
from handrail.compiler.workrail.environment import StepContext
from handrail.compiler.workrail.functions import lower_functions
from handrail.compiler.workrail.loops import find_body_steps
from handrail.compiler.workrail.passes.bindings import resolve_bindings
from handrail.compiler.workrail.passes.features import apply_features
from handrail.compiler.workrail.passes.prompt_blocks import render_prompt_blocks
from handrail.compiler.workrail.passes.refs import resolve_refs
from handrail.compiler.workrail.passes.sentinel import refuse_unresolved
from handrail.compiler.workrail.passes.templates import expand_templates
from handrail.compiler.workrail.passes_state import MAX_STEPS, Compilation, Pass
from handrail.compiler.workrail.steps import lower_steps
from handrail.compiler.workrail.tree import integer, mappings, text
from handrail.compiler.workrail.visit import walk_steps
from handrail.model.diagnostics import Report
from handrail.model.source import Document, Mapping
from handrail.model.workflow.guidance import Tier
from handrail.model.workflow.plan import ManualTrigger, Plan

PASSES: tuple[Pass, ...] = (
    expand_templates,
    resolve_bindings,
    apply_features,
    resolve_refs,
    render_prompt_blocks,
    refuse_unresolved,
)
"""The passes in order, which is part of what a workflow means."""


def lower_workrail(document: Document, catalog: Catalog, report: Report, places: StepPositions) -> Plan | None:
    """Compile a WorkRail-style workflow; None when an error was reported."""
    conform(WORKFLOW, document.root, report)
    if report.failed:
        return None
    refuse_duplicates(document.root, report)
    told = report.failed
    work = Compilation(catalog, report)
    for each in PASSES:
        document = each(document, work)
        if _has_too_many_steps(document.root, report):
            return None
    # Expanded templates can bring in duplicates too; those in the file itself were reported above.
    if not told:
        refuse_duplicates(document.root, report)
    plan = _plan(document.root, work, places)
    return None if report.failed else plan


def _has_too_many_steps(root: Mapping, report: Report) -> bool:
    found = sum(1 for _ in walk_steps(root))
    if found > MAX_STEPS:
        message = f"the workflow has more than {MAX_STEPS} steps"
        report.error("too-many-steps", message, root.entries["steps"], "split it into several workflows")
    return found > MAX_STEPS


def refuse_duplicates(root: Mapping, report: Report) -> None:
    """Report step ids that occur twice, at any depth."""
    first: dict[str, Mapping] = {}
    for step in walk_steps(root):
        name, place = text(step, "id") or "", step.entries["id"].value
        if name in first:
            there = first[name].entries["id"].value.span
            line = there.source.position(there.start).line
            hint = f"rename one of them; the first is at line {line}"
            report.error("duplicate-step", f"step id '{name}' appears twice", place, hint)
        first.setdefault(name, step)


def _plan(root: Mapping, work: Compilation, places: StepPositions) -> Plan:
    functions = lower_functions(root, "workflow", work.report)
    assessments = lower_assessments(root, work.report)
    top = {text(step, "id") or "": step for step in mappings(root, "steps")}
    setting = StepContext(
        catalog=work.catalog,
        report=work.report,
        places=places,
        injected=work.injected,
        assessments=assessments,
        bodies=top,
        functions=functions,
        agent_role=text(root, "agentRole"),
        model_tier=cast("Tier | None", text(root, "modelTier")),
    )
    inside_loops = find_body_steps(root, top)
    alone = tuple(step for step in mappings(root, "steps") if text(step, "id") not in inside_loops)
    steps = lower_steps(alone, setting)
    return Plan(
        name=text(root, "id") or "",
        description=text(root, "description") or "",
        steps=steps,
        selection="rescan",
        triggers=(ManualTrigger(),),
        assessments=tuple(setting.assessments[name] for name in sorted(setting.assessments)),
        guided=lower_workflow(root, work, functions),
        validated_against=integer(root, "validatedAgainstSpecVersion"),
    )
