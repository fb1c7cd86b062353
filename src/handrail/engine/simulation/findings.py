"""Derives what is wrong with a plan from everything that was seen while exploring it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from handrail.engine.simulation.deciding_values import is_exact_source
from handrail.engine.simulation.explore import Exploration
from handrail.engine.simulation.graph import ends_after
from handrail.engine.simulation.guided_moves import solve_condition
from handrail.engine.simulation.moves import predict_end
from handrail.engine.simulation.world import End
from handrail.frozen import frozen
from handrail.model.parts import walk_steps
from handrail.model.workflow.actions import (
    EndAction,
    GateAction,
    GroupAction,
    LoopAction,
    ParallelAction,
    ScriptAction,
    Until,
    While,
)
from handrail.model.workflow.guidance import GuidedLoopAction
from handrail.model.workflow.plan import Plan, ScheduleTrigger, Step
from handrail.model.workflow.proofs import ExpectProof
from handrail.model.workflow.values import Expression

Severity = Literal["fault", "note"]


@frozen
class Finding:
    """One result of a simulation."""

    code: str
    severity: Severity
    place: str
    message: str
    hint: str
    path: tuple[str, ...] = ()
    key: str = ""
    """The key of the step that it is about."""


def findings(plan: Plan, explored: Exploration) -> tuple[Finding, ...]:
    """List everything to report about a plan, in the order of its steps."""
    steps = dict(walk_steps(plan.steps))
    found = [*_find_unreached(plan, explored), *_find_undefined(explored), *_find_doomed(plan, explored)]
    found += [
        *_find_endless_loops(plan, explored),
        *_find_approval_problems(plan, explored),
        *_find_dead_ends(explored),
        *_find_unused_on_fail(plan, explored),
    ]
    found += [
        Finding("not-explored", "note", place, f"'{place}' cannot be analysed: {why}", "test it by running it")
        for place, why in explored.facts.unexplored.items()
    ]
    order = {place: number for number, place in enumerate(steps)}
    return tuple(sorted(found, key=lambda each: (each.severity != "fault", order.get(each.place, -1), each.code)))


def _find_unreached(plan: Plan, explored: Exploration) -> Iterator[Finding]:
    facts = explored.facts
    lists: dict[str, list[str]] = {}
    steps = dict(walk_steps(plan.steps))
    for place in steps:
        lists.setdefault(place.rpartition("/")[0], []).append(place)
    for parent, places in lists.items():
        if parent and parent not in facts.begun:
            continue
        for number, place in enumerate(places):
            if place not in facts.begun:
                yield _describe_unreached(explored, steps, place, places[:number])


def _describe_unreached(explored: Exploration, steps: dict[str, Step], place: str, before: list[str]) -> Finding:
    facts, step = explored.facts, steps[place]
    parent = place.rpartition("/")[0]
    sure = not explored.cut
    if place in facts.skipped:
        return _condition_finding(step, place, facts.skipped[place], sure=sure)
    if parent and isinstance(steps[parent].action, LoopAction | GuidedLoopAction) and parent not in facts.rounds:
        message = f"'{place}' is never reached: the loop '{parent}' never runs a round"
        return _downgrade_if_unsure(
            Finding("step-never-reached", "fault", place, message, "let the loop run, or remove it"), sure=sure
        )
    if step.when is not None and not isinstance(step.when, Expression):
        return _condition_finding(step, place, (), sure=sure and solve_condition(step.when, {}, wanted=True) is None)
    last = next((each for each in reversed(before) if each in facts.begun), parent)
    why = f"nothing continues after '{last}'" if last else "the run never gets there"
    if last in steps and isinstance(steps[last].action, EndAction):
        why = f"the run always ends at '{last}'"
    sure = sure and last not in facts.unexplored
    message = f"'{place}' is never reached: {why}"
    return _downgrade_if_unsure(
        Finding("step-never-reached", "fault", place, message, f"fix '{last}', or remove the step"), sure=sure
    )


def _condition_finding(step: Step, place: str, path: tuple[str, ...], *, sure: bool) -> Finding:
    if isinstance(step.when, Expression):
        said, sure = f"`{step.when.source}`", sure and is_exact_source(step.when.source)
    else:
        said = "its condition"
    message = f"'{place}' is never reached: {said} is never true with the values that can occur"
    return _downgrade_if_unsure(
        Finding("step-never-reached", "fault", place, message, "fix the condition, or remove the step", path, "when"),
        sure=sure,
    )


def _downgrade_if_unsure(finding: Finding, *, sure: bool) -> Finding:
    """Turn a finding that is not certain into a note."""
    return finding if sure else replace(finding, severity="note", message=f"{finding.message}, as far as was explored")


def _find_undefined(explored: Exploration) -> Iterator[Finding]:
    for (place, name), path in explored.facts.undefined.items():
        message = f"'{place}' needs '{name}', which nothing sets on this path: the run stops there"
        hint = f"guard it, as in `{name} | default('')`, or make the step that sets it run on every path"
        yield Finding("name-undefined", "fault", place, message, hint, path)


def _find_doomed(plan: Plan, explored: Exploration) -> Iterator[Finding]:
    facts = explored.facts
    for place, step in walk_steps(plan.steps):
        if place not in facts.begun:
            continue
        if predict_end(step) is False:
            stops = step.on_fail not in ("continue", "warn", "undo")
            if isinstance(step.action, ScriptAction) and not stops:
                continue
            message = f"'{place}' can never pass: {_failure_reason(step)}"
            hint = "write the command that checks the work; to end the run there use `type: end`"
            yield Finding("gate-cannot-pass", "fault", place, message, hint, facts.begun[place])
        elif place in facts.doomed:
            sure = all(
                is_exact_source(each.condition.source) for each in step.done_when if isinstance(each, ExpectProof)
            )
            message = f"'{place}' can never be done: no result that it can return meets `{facts.doomed[place][0]}`"
            hint = "fix the condition, or what the step `returns`"
            yield _downgrade_if_unsure(
                Finding("gate-cannot-pass", "fault", place, message, hint, facts.begun[place], "done_when"), sure=sure
            )


def _failure_reason(step: Step) -> str:
    if isinstance(step.action, GateAction):
        return "a check in it always fails"
    return "its command always fails" if isinstance(step.action, ScriptAction) else "`done_when` can never hold"


def _find_endless_loops(plan: Plan, explored: Exploration) -> Iterator[Finding]:
    facts = explored.facts
    for place, step in walk_steps(plan.steps):
        action = step.action
        waits = isinstance(action, LoopAction) and isinstance(action.over, While | Until)
        if not waits or place not in facts.rounds or place in facts.left_early or place not in facts.at_limit:
            continue
        if not isinstance(action, LoopAction) or action.max_iterations < 2:
            continue
        over = action.over
        said = over.condition.source if isinstance(over, While | Until) else ""
        message = (
            f"the loop '{place}' always runs all {action.max_iterations} rounds: `{over.kind}: {said}` cannot end it"
        )
        hint = "let a step in the loop set what the condition reads, or count with `for`"
        sure = not explored.cut and is_exact_source(said)
        yield _downgrade_if_unsure(
            Finding("loop-never-ends-early", "fault", place, message, hint, facts.at_limit[place], over.kind), sure=sure
        )


def _find_approval_problems(plan: Plan, explored: Exploration) -> Iterator[Finding]:
    steps = dict(walk_steps(plan.steps))
    timed = bool(plan.triggers) and all(isinstance(each, ScheduleTrigger) for each in plan.triggers)
    for place, path in explored.facts.approvals.items():
        ends = ends_after(explored, place, "approved")
        if ends and not explored.cut and all(_is_at_end_step(each, steps) for each in ends):
            message = f"no answer to '{place}' lets the run continue: approved or not, it ends as failed"
            hint = "let an answer lead to another step, or end the run without asking"
            yield Finding("approval-without-way", "fault", place, message, hint, path)
        elif timed:
            message = f"'{place}' asks a person, but the workflow is only started on a schedule: nobody may be there"
            yield Finding(
                "approval-unattended", "note", place, message, "give it a `timeout`, or add `manual` to `trigger`", path
            )
    yield from _find_approvals_in_items(plan, explored)


def _find_approvals_in_items(plan: Plan, explored: Exploration) -> Iterator[Finding]:
    for place, step in walk_steps(plan.steps):
        if isinstance(step.action, ParallelAction):
            for asked, path in explored.facts.approvals.items():
                if asked.startswith(f"{place}/"):
                    message = f"'{asked}' asks once for each item of '{place}', each under the name of a separate run"
                    yield Finding("approval-in-item", "note", asked, message, "ask once, before or after", path)


def _is_at_end_step(end: End, steps: dict[str, Step]) -> bool:
    return end.status == "failed" and end.place in steps and isinstance(steps[end.place].action, EndAction)


def _find_dead_ends(explored: Exploration) -> Iterator[Finding]:
    for place, path in explored.facts.stuck.items():
        message = f"nothing follows at '{place}': the run neither ends nor waits for an answer"
        yield Finding("dead-end", "fault", place, message, "add a step that follows, or end the run there", path)


def _find_unused_on_fail(plan: Plan, explored: Exploration) -> Iterator[Finding]:
    """Find steps that say what happens when they fail, although they cannot fail."""
    if explored.cut:
        return
    for place, step in walk_steps(plan.steps):
        told = step.on_fail in ("continue", "warn", "undo") and not isinstance(step.action, GroupAction)
        if told and place in explored.facts.begun and place not in explored.facts.passed_over:
            message = f"`on_fail: {step.on_fail}` of '{place}' has no effect: nothing that it applies to can fail"
            yield Finding("on-fail-unused", "note", place, message, "leave it out", (), "on_fail")
