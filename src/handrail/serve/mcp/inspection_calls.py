"""Shows one workflow in full: as text for the agent, and as data."""

from typing import Any

from handrail.model.workflow.guidance import GuidedWorkflow
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue
from handrail.operations.pull.call_context import CallContext
from handrail.operations.pull.inspect_workflow import PreviewStep, WorkflowInspection, inspect
from handrail.operations.workflows.condition_text import default_text, input_type
from handrail.serve.mcp.catalogue_rows import diagnostic_row, workflow_row
from handrail.serve.mcp.tool_result import ToolResult

Data = dict[str, Any]


def inspect_workflow(ctx: CallContext, given: Data) -> ToolResult:
    """Show a workflow without starting it."""
    found = inspect(ctx, given["workspacePath"], given["workflowId"], expand=bool(given.get("expand")))
    mode = given.get("mode") or "preview"
    data: Data = {"mode": mode, **workflow_row(found.about, sources=True), "valid": found.plan is not None}
    data["validationWarnings"] = [diagnostic_row(each) for each in found.diagnostics]
    if found.plan is not None:
        data |= _inputs(found.plan) | _declaration_data(found)
        if mode == "preview":
            data["steps"] = [step_row(each) for each in found.steps]
    return ToolResult((_text(found, data),), data)


def step_row(step: PreviewStep) -> Data:
    """Convert a step to data."""
    row: Data = {"stepId": step.id, "address": step.address, "title": step.title, "kind": step.kind}
    row["performedBy"] = "agent" if step.yours else "handrail"
    row |= {"runCondition": step.when} if step.when else {}
    row |= step.details
    return {**row, "steps": [step_row(each) for each in step.steps]} if step.steps else row


def _inputs(plan: Plan) -> Data:
    if plan.selection == "rescan":
        return {}
    return {
        "inputs": [
            {
                "name": each.name,
                "type": input_type(each),
                "required": each.required,
                "default": default_text(each),
                "description": each.description,
            }
            for each in plan.inputs
        ]
    }


def _declaration_data(found: WorkflowInspection) -> Data:
    plan = found.plan
    if plan is None or (plan.guided is None and not plan.assessments):
        return {}
    guided = plan.guided or GuidedWorkflow()
    texts: Data = {
        "about": guided.about,
        "examples": list(guided.examples),
        "preconditions": list(guided.preconditions),
        "clarificationPrompts": list(guided.clarification_prompts),
        "metaGuidance": list(guided.meta_guidance),
        "agentRole": guided.agent_role,
    }
    return {
        **texts,
        "capabilities": {each.name: each.level for each in guided.capabilities},
        "features": [{"id": each.id, "config": each.config} for each in guided.features],
        "extensionPoints": _slots(guided),
        "references": _references(guided, found),
        "assessments": _assessments(plan),
        "recommendedPreferences": {"recommendedAutonomy": guided.autonomy, "recommendedRiskPolicy": guided.risk_policy},
    }


def _slots(guided: GuidedWorkflow) -> list[Data]:
    return [
        {
            "slotId": each.id,
            "purpose": each.purpose,
            "boundTo": each.bound_to,
            "fromProject": each.overridden,
            "acceptedKinds": list(each.accepts),
        }
        for each in guided.slots
    ]


def _references(guided: GuidedWorkflow, found: WorkflowInspection) -> list[Data]:
    rows: list[Data] = []
    for each in guided.references:
        where: Any = found.references[each.id]
        rows.append(
            {
                "id": each.id,
                "title": each.title,
                "path": where["path"],
                "purpose": each.purpose,
                "authoritative": each.authoritative,
                "resolveFrom": each.resolve_from,
                "status": "unresolved" if where["problem"] else "resolved",
            }
            | ({"reason": where["problem"]} if where["problem"] else {})
        )
    return rows


def _assessments(plan: Plan) -> list[Data]:
    return [
        {
            "id": each.id,
            "purpose": each.purpose,
            "dimensions": [
                {"id": one.id, "purpose": one.purpose, "levels": list(one.levels), "required": one.required}
                for one in each.dimensions
            ],
        }
        for each in plan.assessments
    ]


def _text(found: WorkflowInspection, data: Data) -> str:
    about = found.about
    version = f" {about.version}" if about.version else ""
    parts = [f"# {about.title}\n\n{about.about.name}{version}, {data['tier']}. {about.about.description}"]
    if about.distrust:
        parts.append(f"It cannot be started yet: {about.distrust}; {about.needs}.")
    if found.plan is None and not about.distrust:
        lines = [f"- {each['file']}:{each['line']}: {each['message']}" for each in data["validationWarnings"]]
        parts.append("It cannot be used:\n" + "\n".join(lines))
    parts += [] if not data.get("about") else [str(data["about"])]
    parts += [f"## {title}\n\n" + "\n".join(lines) for title, lines in _sections(data) if lines]
    if data.get("steps"):
        parts.append("## Steps\n\n" + "\n".join(_step_lines(found.steps)))
    return "\n\n".join(parts)


def _sections(data: Data) -> list[tuple[str, list[str]]]:
    """List what a reader wants to know, each under its own heading."""
    preferences = data.get("recommendedPreferences", {})
    words = {"autonomy": preferences.get("recommendedAutonomy"), "risk": preferences.get("recommendedRiskPolicy")}
    return [
        ("Inputs", [_input_line(each) for each in data.get("inputs", [])]),
        ("Good for", _items(data.get("examples"))),
        ("Before you start", _items(data.get("preconditions"))),
        ("Ask your user first", _items(data.get("clarificationPrompts"))),
        ("Rules that hold throughout", _items(data.get("metaGuidance"))),
        ("Your role", [str(data["agentRole"])] if data.get("agentRole") else []),
        ("Capabilities", [f"- {name}: {level}" for name, level in data.get("capabilities", {}).items()]),
        ("Features", [f"- {each['id']}" for each in data.get("features", [])]),
        ("Extension points", [_slot_line(each) for each in data.get("extensionPoints", [])]),
        ("References", [_reference_line(each) for each in data.get("references", [])]),
        ("Assessments", [f"- {each['id']}: {each['purpose']}" for each in data.get("assessments", [])]),
        ("Recommended preferences", [f"- {name}: {value}" for name, value in words.items() if value]),
    ]


def _items(texts: list[str] | None) -> list[str]:
    return [f"- {text}" for text in texts or ()]


def _input_line(each: Data) -> str:
    needed = "required" if each["required"] else f"default {each['default']!r}"
    return f"- {each['name']} ({each['type']}, {needed}) {each['description']}".rstrip()


def _slot_line(each: Data) -> str:
    return f"- {each['slotId']}: {each['boundTo']}{' (from the project)' if each['fromProject'] else ''}"


def _reference_line(each: Data) -> str:
    return f"- {each['title']}: {each['path']}" + (f" [unresolved: {each['reason']}]" if "reason" in each else "")


def _step_lines(steps: tuple[PreviewStep, ...], depth: int = 0) -> list[str]:
    lines: list[str] = []
    for number, step in enumerate(steps, 1):
        details = {} if step.kind == "template" else step.details
        more = [f"{_SAID[name]} {_short(value)}" for name, value in details.items() if name in _SAID]
        more = [*([f"when {step.when}"] if step.when else []), *more]
        said_more = f" ({'; '.join(more)})" if more else ""
        by = "" if step.yours or step.steps else " [done by Handrail]"
        lines.append(f"{'   ' * depth}{number}. {step.id}: {step.title}{by}{said_more}")
        lines += _step_lines(step.steps, depth + 1)
    return lines


_SAID = {
    "loop": "loop",
    "outputContract": "must return",
    "confirmation": "confirmed by",
    "assessments": "assesses",
    "followUpAtLevels": "sent back at",
    "delegatesTo": "delegates to",
    "calls": "calls",
    "injectedBy": "from",
    "hiddenSteps": "steps not shown:",
}


def _short(value: JsonValue) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}={part}" for name, part in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
