"""Renders everything that the performer of a guided step needs to know, once, as the step becomes pending."""

import json
import re
from collections.abc import Mapping

from handrail.engine.contracts.context_conditions import holds
from handrail.engine.contracts.criteria import requirements
from handrail.engine.contracts.example import minimal_example
from handrail.engine.contracts.javascript_values import text_of, type_name
from handrail.engine.prompts.demands import assessment_spec
from handrail.engine.text.marked_values import ForeignValue, Piece, mark_all, mark_in_line
from handrail.model.codec import encode
from handrail.model.workflow.guidance import (
    Confirmation,
    Contract,
    DelegateAction,
    Delegation,
    GuidedAction,
)
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import ContextCondition, JsonValue

Names = Mapping[str, JsonValue]
Spec = dict[str, JsonValue]

LOOP_CONTROL = "wr.loop_control"
_VARIABLE = re.compile(r"\{\{(?!wr\.)([a-zA-Z_]\w*(?:\.[a-zA-Z_]\w*)*)\}\}", re.ASCII)
_MAX_SAMPLE_LENGTH = 80


def fill_template(text: str, names: Names) -> str:
    """Substitute `{{name}}` and `{{name.field}}`; a missing value is named, never left out."""
    return "".join(piece if isinstance(piece, str) else piece.text for piece in _pieces(text, names))


def _pieces(text: str, names: Names) -> list[Piece]:
    """Split a text into literals and values; all values are untrusted, since agents and callers fill the context."""
    # The pattern has one group, so every second part is a path.
    return [_value(part, names) if odd % 2 else part for odd, part in enumerate(_VARIABLE.split(text))]


def _fill_line(text: str, names: Names) -> str:
    pieces = _pieces(text, names)
    return "".join(piece if isinstance(piece, str) else mark_in_line(piece) for piece in pieces)


def _value(path: str, names: Names) -> Piece:
    parts = path.split(".")
    here: JsonValue = dict(names)
    for depth, part in enumerate(parts):
        if isinstance(here, dict):
            here = here.get(part)
        elif isinstance(here, list):
            here = len(here) if part == "length" else None
        elif here is not None:
            before = ".".join(parts[:depth])
            sample = mark_in_line(ForeignValue(before, text_of(here)[:_MAX_SAMPLE_LENGTH]))
            return f"[unset: {path} -- '{before}' is {type_name(here)} ({sample}), not object]"
    if here is None:
        return f"[unset: {path}]"
    return text_of(here) if isinstance(here, bool | int | float) else ForeignValue(path, text_of(here))


def build_guided_spec(plan: Plan, action: GuidedAction, names: Names, loop: Spec | None) -> Spec:
    """Build the spec for the performer of a guided step; what the step does not ask for is left out."""
    wanted = [each for each in plan.assessments if each.id in action.assessments]
    fragments = (each.text for each in action.fragments if _applies(each.when, names))
    (prompt, *more), note = mark_all([_pieces(text, names) for text in (action.prompt.text, *fragments)])
    spec: Spec = {
        "title": _fill_line(action.title, names),
        "prompt": prompt,
        "marks": note or None,
        "agent_role": action.agent_role,
        "guidance": list(action.guidance),
        "fragments": list(more),
        "notes": "optional" if action.notes_optional or action.contract is not None else "required",
        "ask_for_files": action.ask_for_files,
        "confirmation": find_confirmer(action.confirmation, names),
        "contract": contract_spec(action.contract),
        "assessments": [assessment_spec(each) for each in wanted],
        "criteria": list(requirements(action.validation)) if action.validation is not None else [],
        "functions": [encode(each) for each in action.functions],
        "model_tier": action.model_tier,
        "verification": encode(action.verification) if action.verification is not None else None,
        "audit": encode(action.audit) if action.audit is not None else None,
        "loop": {**loop, "decides": _decides(action)} if loop is not None else None,
    }
    return {name: value for name, value in spec.items() if value not in (None, [], False)}


def _decides(action: GuidedAction) -> bool:
    return action.contract is not None and action.contract.artifact_kind == LOOP_CONTROL


def _applies(when: ContextCondition | None, names: Names) -> bool:
    return when is None or holds(when, names)


def find_confirmer(asked: Confirmation | None, names: Names) -> str | None:
    """Return who must confirm the step, if its condition asks for that."""
    if asked is None or not asked.required or not _applies(asked.condition, names):
        return None
    return asked.by


def contract_spec(asked: Contract | None) -> JsonValue:
    """Describe the artifact that a step must produce."""
    if asked is None:
        return None
    return {
        "ref": asked.ref,
        "kind": asked.artifact_kind,
        "required": asked.required,
        "schema": asked.schema,
        "example": minimal_example(asked.schema),
    }


def build_delegate_spec(action: DelegateAction, names: Names, loop: Spec | None) -> Spec:
    """Build the spec for the performer of a step that delegates work to other workflows."""
    handed_on = [each for each in action.delegations if _applies(each.when, names)]
    contexts = [_context(each, names) for each in handed_on]
    goals = [_pieces(each.goal or "", names) for each in handed_on]
    shown = [[ForeignValue("context", json.dumps(each, ensure_ascii=False))] for each in contexts]
    synthesis = action.synthesis.text if action.synthesis is not None else ""
    (prompt, *marked), note = mark_all([_pieces(synthesis, names), *goals, *shown])
    told = zip(handed_on, contexts, marked[: len(goals)], marked[len(goals) :], strict=True)
    spec: Spec = {
        "title": _fill_line(action.title, names),
        "prompt": prompt if action.synthesis is not None else None,
        "marks": note or None,
        "delegations": [_delegation(*each) for each in told],
        "notes": "optional" if action.notes_optional or action.synthesis_contract is not None else "required",
        "contract": contract_spec(action.synthesis_contract),
        "confirmation": find_confirmer(action.confirmation, names),
        "loop": loop,
    }
    return {name: value for name, value in spec.items() if value not in (None, [])}


def _context(each: Delegation, names: Names) -> dict[str, JsonValue]:
    context: dict[str, JsonValue] = {theirs: names.get(ours) for ours, theirs in each.context}
    return {**context, **{name: fill_template(value, names) for name, value in each.args}}


def _delegation(each: Delegation, context: dict[str, JsonValue], goal: str, shown: str) -> JsonValue:
    return {
        "workflow": each.workflow,
        "goal": goal if each.goal is not None else None,
        "context": context,
        "shown_context": shown if context else None,
        "model_tier": each.model_tier,
        "allowed_tools": list(each.allowed_tools) if each.allowed_tools is not None else None,
    }
