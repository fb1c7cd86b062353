"""One workflow in full, for a connected agent that has not started it."""

from itertools import groupby
from typing import TypeAlias

from handrail.engine.state.agent_calls import OF_AGENTS
from handrail.frozen import frozen
from handrail.model.diagnostics import Diagnostic
from handrail.model.workflow.actions import (
    Action,
    CallAction,
    Each,
    GroupAction,
    LoopAction,
    ParallelAction,
    PullRequestAction,
    Times,
    Until,
    While,
    body,
)
from handrail.model.workflow.guidance import (
    ArtifactDecides,
    Confirmation,
    ContextDecides,
    DelegateAction,
    GuidedAction,
    GuidedLoopAction,
)
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.values import JsonValue
from handrail.operations.pull.call_context import CallContext
from handrail.operations.pull.list_workflows import describe_workflow
from handrail.operations.pull.workflow_offer import WorkflowOffer
from handrail.operations.runs.references import look_for
from handrail.operations.workflows.condition_text import condition_words, value_words

Data: TypeAlias = dict[str, JsonValue]


@frozen(kw_only=True)
class PreviewStep:
    """A step as it was compiled."""

    id: str
    address: str
    title: str
    kind: str
    yours: bool
    """Whether the connected agent does it; otherwise Handrail does."""
    when: str = ""
    details: Data
    """Further properties, under WorkRail's names for them; those that do not apply are left out."""
    steps: tuple["PreviewStep", ...] = ()


@frozen(kw_only=True)
class WorkflowInspection:
    """A workflow; a broken one only shows what is wrong with it."""

    about: WorkflowOffer
    plan: Plan | None
    references: dict[str, JsonValue]
    """For each reference, by its id, where it was found or why not."""
    steps: tuple[PreviewStep, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def inspect(ctx: CallContext, workspace: str, name: str, *, expand: bool = False) -> WorkflowInspection:
    """Find, compile and describe a workflow; with `expand`, also what templates and routines inserted."""
    place = ctx.place_of(workspace)
    seen = ctx.catalogue.view_from(place)
    found = seen.find(name)
    checked = seen.check_workflow(found)
    plan = checked.plan
    return WorkflowInspection(
        about=describe_workflow(seen, found),
        plan=plan,
        references=look_for(plan, place) if plan is not None else {},
        steps=preview(plan.steps, expand=expand) if plan is not None else (),
        diagnostics=checked.diagnostics,
    )


def preview(steps: tuple[Step, ...], prefix: str = "", *, expand: bool) -> tuple[PreviewStep, ...]:
    """Describe steps with everything that decides whether, how often and how they are done.

    What a template inserted is shown as one step of its caller, unless `expand` is set.
    """
    shown: list[PreviewStep] = []
    for caller, group in groupby(steps, key=lambda step: step.injected.at if step.injected and not expand else None):
        if caller is None:
            shown += [_preview_step(step, f"{prefix}{step.name}", expand=expand) for step in group]
        else:
            shown.append(_preview_group(caller, tuple(group), prefix))
    return tuple(shown)


def _preview_group(caller: str, steps: tuple[Step, ...], prefix: str) -> PreviewStep:
    first = steps[0]
    by = first.injected.by if first.injected is not None else ""
    return PreviewStep(
        id=caller,
        address=f"{prefix}{caller}",
        title=f"{len(steps)} step{'' if len(steps) == 1 else 's'} of {by}",
        kind="template",
        yours=any(step.action.kind in OF_AGENTS for step in steps),
        when=condition_words(first.when) if first.when is not None else "",
        details={"injectedBy": by, "hiddenSteps": len(steps)},
    )


def _preview_step(step: Step, address: str, *, expand: bool) -> PreviewStep:
    action = step.action
    details = {**_details(action), **_describe_assessments(step)}
    if step.injected is not None:
        details["injectedBy"] = step.injected.by
        details["injectedAt"] = step.injected.at
        details["injectedWhy"] = step.injected.why
    inner = body(action)
    hides = isinstance(action, GroupAction) and not expand
    if hides:
        details["hiddenSteps"] = len(inner)
    return PreviewStep(
        id=step.name,
        address=address,
        title=_title(action) or step.description or step.name,
        kind=action.kind,
        yours=action.kind in OF_AGENTS,
        when=condition_words(step.when) if step.when is not None else "",
        details={name: value for name, value in details.items() if value not in (None, "", [], {}, False)},
        steps=() if hides else preview(inner, f"{address}/", expand=expand),
    )


def _title(action: Action) -> str:
    match action:
        case GuidedAction() | GuidedLoopAction() | DelegateAction():
            return action.title
        case PullRequestAction():
            return value_words(action.title)
        case _:
            return ""


def _details(action: Action) -> Data:
    match action:
        case GuidedAction():
            return _describe_guided(action)
        case GuidedLoopAction():
            return {"loop": _describe_guided_loop(action), "confirmation": _confirmation(action.confirmation)}
        case DelegateAction():
            delegations: list[JsonValue] = [each.workflow for each in action.delegations]
            contract = action.synthesis_contract
            more = {"outputContract": contract.ref if contract is not None else None}
            return {"delegatesTo": delegations, "confirmation": _confirmation(action.confirmation), **more}
        case LoopAction():
            return {
                "loop": {
                    "type": action.over.kind,
                    "maxIterations": action.max_iterations,
                    **_describe_loop_condition(action.over),
                }
            }
        case ParallelAction():
            return {"loop": {"type": "parallel", **_describe_loop_condition(action.over)}}
        case CallAction():
            return {"calls": action.workflow}
        case _:
            return {}


def _describe_guided(action: GuidedAction) -> Data:
    contract = action.contract
    return {
        "agentRole": action.agent_role,
        "outputContract": contract.ref if contract is not None else None,
        "confirmation": _confirmation(action.confirmation),
        "notesOptional": action.notes_optional,
        "validated": action.validation is not None,
        "promptFragments": [each.id for each in action.fragments],
        "modelTier": action.model_tier,
    }


def _describe_assessments(step: Step) -> Data:
    action = step.action
    named = (*step.assess, *(action.assessments if isinstance(action, GuidedAction) else ()))
    sent_back = (*step.follow_ups, *(action.consequences if isinstance(action, GuidedAction) else ()))
    levels: list[JsonValue] = [each.any_equals_level for each in sent_back]
    return {"assessments": list(dict.fromkeys(named)), "followUpAtLevels": levels, "proofs": len(step.done_when)}


def _describe_guided_loop(action: GuidedLoopAction) -> Data:
    loop: Data = {"type": action.loop, "maxIterations": action.max_iterations}
    match action.decides:
        case ArtifactDecides():
            loop["decidedBy"] = action.decides.contract
        case ContextDecides():
            loop["condition"] = condition_words(action.decides.condition)
        case None:
            pass
    given: Data = {"count": action.count, "items": action.items}
    return {**loop, **{name: value for name, value in given.items() if value is not None}}


def _describe_loop_condition(over: While | Until | Times | Each) -> Data:
    return {"condition": over.condition.source} if isinstance(over, While | Until) else {}


def _confirmation(given: Confirmation | None) -> str | None:
    if given is None or not given.required:
        return None
    by = {"user": "your user", "coordinator_eval": "an evaluation", "human_approval": "a person"}[given.by]
    return f"{by}, when {condition_words(given.condition)}" if given.condition is not None else by
