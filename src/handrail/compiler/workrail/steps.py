"""Lowers steps of every kind to steps of the plan."""

import re
from typing import Literal, cast

from handrail.authoring.readers.locate import span_at
from handrail.compiler.workrail.assessments import assessment_refs, consequences
from handrail.compiler.workrail.conditions import lower_confirmation, optional_condition
from handrail.compiler.workrail.delegations import note_unknown_workflow
from handrail.compiler.workrail.environment import StepContext, lower_contract
from handrail.compiler.workrail.functions import functions_of_step, lower_functions
from handrail.compiler.workrail.loops import check_loop, find_decider, loop_body, loop_count
from handrail.compiler.workrail.message_names import quote_name
from handrail.compiler.workrail.tree import flag, integer, mapping, mappings, text, texts
from handrail.compiler.workrail.validation import lower_validation
from handrail.model.source import Mapping, Scalar
from handrail.model.workflow.guidance import (
    Audit,
    DelegateAction,
    Delegation,
    Fragment,
    GuidedAction,
    GuidedLoopAction,
    Tier,
    Verification,
)
from handrail.model.workflow.plan import Step
from handrail.model.workflow.proofs import CommandProof
from handrail.model.workflow.values import Command, Prompt

VARIABLE = re.compile(r"\{\{([^{}]*)\}\}")
PLAIN_VARIABLE = re.compile(r"[A-Za-z_$][\w$]*(\.[\w$]+)*")


def lower_steps(nodes: tuple[Mapping, ...], setting: StepContext) -> tuple[Step, ...]:
    """Lower steps in order."""
    return tuple(_step(node, setting) for node in nodes)


def _step(node: Mapping, setting: StepContext) -> Step:
    name = text(node, "id") or ""
    _mark(node, setting.prefix + name, setting)
    _note_odd_variables(node.get("title"), setting)
    found = mapping(node, "verification")
    command = text(found, "command") if found is not None else None
    return Step(
        name=name,
        action=_action(node, setting),
        description=text(node, "title") or "",
        when=optional_condition(node, "runCondition", setting.report),
        done_when=(CommandProof(Command(command)),) if command else (),
        injected=setting.injected.get(name),
    )


def _mark(node: Mapping, address: str, setting: StepContext) -> None:
    setting.places.mark(address, node.entries["id"].value)
    for entry in node:
        setting.places.mark(address, entry.value, "when" if entry.name == "runCondition" else entry.name)


def _action(node: Mapping, setting: StepContext) -> GuidedAction | GuidedLoopAction | DelegateAction:
    if "loop" in node:
        return _loop(node, setting)
    return _delegate(node, setting) if "parallelDelegations" in node else _lower_guided(node, setting)


def _lower_guided(node: Mapping, setting: StepContext) -> GuidedAction:
    report = setting.report
    refs = assessment_refs(node, setting)
    _note_odd_variables(node.get("prompt"), setting)
    found = mapping(node, "audit")
    return GuidedAction(
        title=text(node, "title") or "",
        prompt=Prompt(text(node, "prompt") or "", "workrail"),
        agent_role=text(node, "agentRole") or setting.agent_role,
        guidance=texts(node, "guidance"),
        fragments=_fragments(node, setting),
        ask_for_files=flag(node, "askForFiles"),
        notes_optional=flag(node, "notesOptional"),
        confirmation=lower_confirmation(node, report),
        validation=lower_validation(node, report),
        contract=lower_contract(mapping(node, "outputContract"), setting),
        assessments=refs,
        consequences=consequences(node, refs, setting),
        functions=functions_of_step(node, setting.functions, report),
        model_tier=_tier(node) or setting.model_tier,
        verification=_verification(node, setting),
        audit=Audit(text(found, "prompt") or "", texts(found, "rubric")) if found is not None else None,
    )


def _tier(node: Mapping) -> Tier | None:
    return cast("Tier | None", text(node, "modelTier"))


def _note_odd_variables(node: object, setting: StepContext) -> None:
    if not isinstance(node, Scalar):
        return
    for found in VARIABLE.finditer(str(node.value)):
        if not PLAIN_VARIABLE.fullmatch(found[1]) and not found[1].startswith("wr."):
            message = f"{quote_name(found[0])} is not a plain variable and stays in the text unchanged"
            hint = "write {{name}} or {{name.field}}, without spaces or arithmetic"
            setting.report.advice("odd-variable", message, span_at(node, *found.span()), hint)


def _fragments(node: Mapping, setting: StepContext) -> tuple[Fragment, ...]:
    found: dict[str, Fragment] = {}
    for each in mappings(node, "promptFragments"):
        fragment_id, body = text(each, "id") or "", each.entries["text"].value
        if fragment_id in found:
            message = f"fragment '{fragment_id}' appears twice in the step"
            setting.report.error("duplicate-fragment", message, each.entries["id"].value, "rename one of them")
        if "{{wr." in (text(each, "text") or ""):
            hint = "fragments are added while the workflow runs; use {{wr.bindings.SLOT}} in the prompt instead"
            setting.report.error("unresolved-token", "a fragment cannot contain a {{wr.…}} token", body, hint)
        _note_odd_variables(body, setting)
        when = optional_condition(each, "when", setting.report)
        found[fragment_id] = Fragment(fragment_id, text(each, "text") or "", when)
    return tuple(found.values())


def _verification(node: Mapping, setting: StepContext) -> Verification | None:
    found = mapping(node, "verification")
    if found is None:
        return None
    if not found.entries:
        message = "a verification needs 'command' or 'prompt'"
        setting.report.error("missing-key", message, node.entries["verification"])
    return Verification(text(found, "command"), text(found, "prompt"))


def _loop(node: Mapping, setting: StepContext) -> GuidedLoopAction:
    loop = mapping(node, "loop") or node
    check_loop(node, setting)
    body = loop_body(node, setting)
    inside = setting.enter_loop(text(node, "id") or "", lower_functions(node, "loop", setting.report))
    return GuidedLoopAction(
        loop=cast('Literal["while", "until", "for", "forEach"]', text(loop, "type")),
        max_iterations=integer(loop, "maxIterations") or 1,
        steps=lower_steps(body, inside),
        title=text(node, "title") or "",
        decides=find_decider(node, body, setting),
        count=loop_count(loop),
        items=text(loop, "items"),
        iteration_var=text(loop, "iterationVar") or "currentIteration",
        item_var=text(loop, "itemVar") or "currentItem",
        index_var=text(loop, "indexVar") or "currentIndex",
        confirmation=lower_confirmation(node, setting.report),
        functions=inside.functions,
        notes_optional=flag(node, "notesOptional"),
    )


def _delegate(node: Mapping, setting: StepContext) -> DelegateAction:
    synthesis = mapping(node, "synthesis")
    prompt = text(synthesis, "prompt") if synthesis is not None else None
    return DelegateAction(
        title=text(node, "title") or "",
        delegations=tuple(_delegation(each, setting) for each in mappings(node, "parallelDelegations")),
        synthesis=Prompt(prompt, "workrail") if prompt is not None else None,
        synthesis_contract=lower_contract(mapping(synthesis, "outputContract"), setting) if synthesis else None,
        confirmation=lower_confirmation(node, setting.report),
        notes_optional=flag(node, "notesOptional"),
    )


def _delegation(node: Mapping, setting: StepContext) -> Delegation:
    note_unknown_workflow(node.get("workflowId"), setting)
    return Delegation(
        workflow=text(node, "workflowId") or "",
        goal=text(node, "goal"),
        when=optional_condition(node, "runCondition", setting.report),
        context=_sort_pairs(mapping(node, "contextMapping")),
        args=_sort_pairs(mapping(node, "args")),
        model_tier=_tier(node) or setting.model_tier,
        allowed_tools=texts(node, "allowedTools") if "allowedTools" in node else None,
    )


def _sort_pairs(node: Mapping | None) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((entry.name, text(node, entry.name) or "") for entry in node)) if node is not None else ()
