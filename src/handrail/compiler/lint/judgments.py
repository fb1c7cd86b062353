"""Assessments that judge only one thing, or the same thing twice."""

import re
from collections.abc import Iterator

from handrail.compiler.lint.context import LintContext
from handrail.compiler.workrail.tree import mappings, text
from handrail.frozen import frozen
from handrail.model.source import Mapping, Node
from handrail.model.workflow.actions import AgentAction
from handrail.model.workflow.guidance import GuidedAction

SUFFIX = re.compile(r"[_-]?(?:confidence|level|score|rating)$", re.IGNORECASE)


@frozen
class AssessmentSource:
    """An assessment as it was written: its id, and its dimensions with their places."""

    id: str
    place: Node
    dimensions: tuple[tuple[str, Node], ...]


def find_assessments(context: LintContext) -> Iterator[AssessmentSource]:
    """Find the assessments of the workflow's own file."""
    for node in mappings(context.document.root, "assessments"):
        found = tuple((text(each, "id") or "", each.entries["id"].value) for each in mappings(node, "dimensions"))
        yield AssessmentSource(text(node, "id") or "", node.entries["id"].value, found)
    named = context.document.root.get("assessments")
    for entry in named if isinstance(named, Mapping) else ():
        dimensions = entry.value.get("dimensions") if isinstance(entry.value, Mapping) else None
        if isinstance(dimensions, Mapping):
            yield AssessmentSource(entry.name, entry.key, tuple((each.name, each.key) for each in dimensions))
    for visit in context.own if context.document.dialect == "native" else ():
        assess = visit.node.get("assess") if visit.node is not None else None
        dimensions = assess.get("dimensions") if isinstance(assess, Mapping) else None
        if isinstance(dimensions, Mapping):
            yield AssessmentSource(visit.address, dimensions, tuple((each.name, each.key) for each in dimensions))


def lint_single_dimensions(context: LintContext) -> None:
    """Advise against a step that is judged in only one dimension."""
    alone = _sole_assessments(context)
    for each in find_assessments(context):
        if len(each.dimensions) == 1 and each.id in alone:
            name, place = each.dimensions[0]
            message = f"the assessment '{each.id}' rates only '{name}'"
            hint = "add what else can go wrong; each dimension should catch a failure that no other one catches"
            context.report.advice("single-dimension", message, place, hint)


def _sole_assessments(context: LintContext) -> set[str]:
    """Find assessments that are the only one of a step; several with one dimension each form a whole."""
    found: set[str] = set()
    for visit in context.visits:
        action = visit.step.action
        ids = action.assessments if isinstance(action, GuidedAction) else visit.step.assess
        found.update(ids if len(ids) == 1 else ())
    return found


def lint_follow_ups_without_retry(context: LintContext) -> None:
    """Advise to add a retry where a level sends a step back that has no attempt left."""
    for visit in context.own:
        step = visit.step
        if isinstance(step.action, AgentAction) and step.follow_ups and not step.retry.more:
            levels = ", ".join(dict.fromkeys(each.any_equals_level for each in step.follow_ups))
            message = f"the first judgment at level {levels} stops the run: the step has no tries left"
            hint = "add `retry: 2`, so that the agent can follow the guidance"
            context.report.advice("follow-up-without-retry", message, context.locate(visit, "assess"), hint)


def lint_same_dimensions(context: LintContext) -> None:
    """Advise against judging the same thing under two names or in two assessments."""
    first: dict[str, tuple[str, str]] = {}
    for each in find_assessments(context):
        for name, place in each.dimensions:
            stem = SUFFIX.sub("", name).casefold().replace("-", "_") or name
            other = first.setdefault(stem, (each.id, name))
            if other == (each.id, name):
                continue
            hint = "rate each thing once; correlated dimensions ask the same question twice"
            context.report.advice("same-dimension", _describe_overlap(other, (each.id, name)), place, hint)


def _describe_overlap(first: tuple[str, str], second: tuple[str, str]) -> str:
    if first[1] == second[1]:
        return f"'{second[1]}' is rated in '{first[0]}' and again in '{second[0]}'"
    where = f"in '{first[0]}'" if first[0] == second[0] else f"in '{first[0]}' and '{second[0]}'"
    return f"'{first[1]}' and '{second[1]}' {where} rate the same thing"
