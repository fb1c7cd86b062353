"""Makes a step pending for whoever holds the run: an agent step, a guided one, or one that delegates work."""

from dataclasses import replace

from handrail.engine.guided.confirmation import is_skipped
from handrail.engine.guided.loops import innermost_loop, visible_context
from handrail.engine.guided.prompts import Spec, build_delegate_spec, build_guided_spec
from handrail.engine.prompts.agent_call import add_guidance, build_ask, build_call_intent
from handrail.engine.state.capabilities import open_questions
from handrail.engine.state.position import StepStart, enclosing_step
from handrail.engine.state.scope import value_of
from handrail.model.codec import encode
from handrail.model.history.events import StepBegan
from handrail.model.history.run_state import RunState
from handrail.model.workflow.actions import AgentAction
from handrail.model.workflow.guidance import DelegateAction, GuidedAction
from handrail.model.workflow.plan import Plan, Step


def begin_outside(plan: Plan, state: RunState, step: Step, at: StepStart) -> StepBegan:
    """Build the event that makes a step pending, with everything that is known about it now."""
    return StepBegan(
        address=at.address,
        action=step.action.kind,
        attempt=at.attempt,
        spec=_spec(plan, state, step, at),
        output=step.output or "",
        at=at.now,
        why=at.why,
    )


def _spec(plan: Plan, state: RunState, step: Step, at: StepStart) -> Spec:
    match step.action:
        case GuidedAction():
            spec = build_guided_spec(plan, step.action, visible_context(plan, state), loop_of(plan, state))
            return {**_drop_skipped_confirmation(state, spec), **_capabilities(plan, state)}
        case DelegateAction():
            spec = build_delegate_spec(step.action, visible_context(plan, state), loop_of(plan, state))
            return {**_drop_skipped_confirmation(state, spec), **_capabilities(plan, state)}
        case AgentAction():
            own = {each.name: value_of(each.value, state) for each in step.input}
            returns = {} if step.returns is None else {"returns": encode(step.returns)}
            ask = replace(build_ask(step, step.action.task, own, state.project), address=at.address)
            ask = add_guidance(ask, plan, state, step)
            return {**build_call_intent(state, ask, 0.0, at.agent_names).spec, **returns}
        case _:
            return {}


def _drop_skipped_confirmation(state: RunState, spec: Spec) -> Spec:
    """Leave out a confirmation that is skipped."""
    skipped = is_skipped(state, str(spec.get("confirmation") or ""))
    return {name: value for name, value in spec.items() if name != "confirmation" or not skipped}


def _capabilities(plan: Plan, state: RunState) -> Spec:
    asked = open_questions(plan, state)
    return {"capabilities": asked} if asked else {}


def loop_of(plan: Plan, state: RunState) -> Spec | None:
    """Describe the loop and the round that the current step is in."""
    found, around = innermost_loop(plan, state), enclosing_step(plan, state)
    if found is None or around is None:
        return None
    action, loop = found
    return {"id": around.name, "title": action.title, "iteration": loop.round, "most": action.max_iterations}
