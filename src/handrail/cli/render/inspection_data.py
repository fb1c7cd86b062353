"""The details of one workflow as JSON data."""

from typing import Any

from handrail.cli.render.diagnostics import diagnostic_data
from handrail.cli.render.workflow_list import workflow_data
from handrail.model.codec import encode
from handrail.model.workflow.plan import Input
from handrail.operations.workflows.condition_text import default_text, input_type
from handrail.operations.workflows.inspect import CallBound, Inspection
from handrail.operations.workflows.outline import OutlineStep


def inspection_data(found: Inspection) -> dict[str, Any]:
    """Convert everything about a workflow to JSON data."""
    return {
        **workflow_data(found.about),
        "steps": [_step(step) for step in found.steps],
        "inputs": [_input(each) for each in found.inputs],
        "agent_calls": bound_data(found.bound) if found.bound is not None else None,
        "calls": list(found.calls),
        "references": [encode(each) for each in found.references],
        "files": [
            {"path": each.path, "role": each.role, "version": each.version, "used_by": list(each.used_by)}
            for each in found.files
        ],
        "shadowed_by": found.about.shadowed_by,
        "trust": {"state": found.trust.state, "reason": found.trust.reason} if found.trust is not None else None,
        "empty_context": found.about.form == "python",
        "diagnostics": [diagnostic_data(each) for each in found.diagnostics],
    }


def bound_data(bound: CallBound) -> dict[str, Any]:
    """Convert a bound on agent calls to JSON data."""
    return {"least": bound.least, "most": bound.most}


def _input(declared: Input) -> dict[str, Any]:
    return {
        "name": declared.name,
        "type": input_type(declared),
        "required": declared.required,
        "default": default_text(declared),
        "description": declared.description,
    }


def _step(step: OutlineStep) -> dict[str, Any]:
    injected = step.injected
    return {
        "name": step.name,
        "address": step.address,
        "kind": step.kind,
        "says": step.says,
        "when": step.when,
        "output": step.output,
        "agents": list(step.agents),
        "hidden": step.hidden,
        "injected": {"by": injected.by, "at": injected.at, "why": injected.why} if injected is not None else None,
        "names": dict(step.names),
        "steps": [_step(inner) for inner in step.steps],
    }
