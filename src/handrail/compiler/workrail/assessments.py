"""Lowers assessments, and checks the references of steps to them."""

from handrail.compiler.workrail.environment import StepContext
from handrail.compiler.workrail.message_names import describe_unknown, list_names, quote_name
from handrail.compiler.workrail.tree import flag, mapping, mappings, scalars, text, texts
from handrail.model.diagnostics import Report
from handrail.model.source import Mapping, Node
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.guidance import Assessment, Consequence, Dimension


def lower_assessments(root: Mapping, report: Report) -> dict[str, Assessment]:
    """Lower the workflow's own assessments."""
    found: dict[str, Assessment] = {}
    for node in mappings(root, "assessments"):
        assessment_id = text(node, "id") or ""
        if assessment_id in found:
            message = f"assessment {quote_name(assessment_id)} is declared twice"
            report.error("duplicate-assessment", message, node.entries["id"].value, "rename one of them")
        required = flag(node, "rationaleRequired", default=True)
        found[assessment_id] = Assessment(
            assessment_id, text(node, "purpose") or "", _dimensions(node, report), rationale_required=required
        )
    return found


def _dimensions(node: Mapping, report: Report) -> tuple[Dimension, ...]:
    found: dict[str, Dimension] = {}
    for each in mappings(node, "dimensions"):
        name = text(each, "id") or ""
        if name in found:
            message = f"dimension '{name}' appears twice in the assessment"
            report.error("duplicate-assessment", message, each.entries["id"].value)
        required = flag(each, "required", default=True)
        found[name] = Dimension(name, text(each, "purpose") or "", texts(each, "levels"), required=required)
    return tuple(found.values())


def assessment_refs(step: Mapping, setting: StepContext) -> tuple[str, ...]:
    """Return the ids of the assessments a step refers to; one from the library becomes part of the workflow."""
    found: list[str] = []
    for leaf in scalars(step, "assessmentRefs"):
        name = str(leaf.value)
        if _is_known(name, leaf, setting):
            found.append(name)
    return tuple(found)


def _is_known(name: str, place: Node, setting: StepContext) -> bool:
    if name not in setting.assessments:
        ready_made = setting.builtins.assessment(name)
        if ready_made is None:
            known = (*setting.assessments, *setting.builtins.assessment_ids())
            hint = "declare it in 'assessments', or use one of: " + list_names(known)
            setting.report.error("unknown-assessment", describe_unknown("assessment", name, known), place, hint)
            return False
        setting.assessments[name] = ready_made
    return True


def consequences(step: Mapping, refs: tuple[str, ...], setting: StepContext) -> tuple[Consequence, ...]:
    """Lower a step's consequences, checking that each of them can apply."""
    nodes = mappings(step, "assessmentConsequences")
    if nodes and "assessmentRefs" not in step:
        hint = "add 'assessmentRefs', or remove the consequences"
        message = "consequences need an assessment"
        setting.report.error("consequence-alone", message, step.entries["assessmentConsequences"], hint)
        return ()
    found: list[Consequence] = []
    for node in nodes:
        when, effect = mapping(node, "when") or node, mapping(node, "effect") or node
        consequence = Consequence(
            text(when, "anyEqualsLevel") or "", text(effect, "guidance") or "", text(when, "forAssessment")
        )
        _check_level(consequence, when, refs, setting)
        if any(_has_same_trigger(consequence, other) for other in found):
            message = f"level {quote_name(consequence.any_equals_level)} has two consequences for the same assessment"
            setting.report.error("duplicate-consequence", message, when.entries["anyEqualsLevel"].value)
        found.append(consequence)
    return tuple(found)


def _has_same_trigger(one: Consequence, other: Consequence) -> bool:
    return (one.any_equals_level, one.for_assessment) == (other.any_equals_level, other.for_assessment)


def _check_level(consequence: Consequence, trigger: Mapping, refs: tuple[str, ...], setting: StepContext) -> None:
    target = consequence.for_assessment
    if target is not None and target not in refs:
        message = f"the step does not refer to assessment {quote_name(target)}{did_you_mean(target, refs)}"
        place = trigger.entries["forAssessment"].value
        setting.report.error("unknown-assessment", message, place, "its assessmentRefs: " + list_names(refs))
        return
    looked_at = (target,) if target is not None else refs
    levels = [level for ref in looked_at for each in setting.assessments[ref].dimensions for level in each.levels]
    level = consequence.any_equals_level
    if looked_at and level not in levels:
        message = f"no dimension has the level {quote_name(level)}{did_you_mean(level, levels)}"
        hint = "its levels: " + list_names(dict.fromkeys(levels))
        setting.report.error("unknown-level", message, trigger.entries["anyEqualsLevel"].value, hint)
