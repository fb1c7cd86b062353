"""Makes a step pending for whoever holds the run: an agent's, a guided one, one that hands work on."""

from collections.abc import Mapping
from functools import lru_cache

from handrail.engine.guided_loops import innermost, visible
from handrail.engine.guided_prompts import Spec, delegate_spec, guided_spec
from handrail.engine.names import scope_for, value_of
from handrail.engine.walk import Moment, holder
from handrail.language.refs import Ref
from handrail.language.template import Template, parse_template, render, template_refs
from handrail.model.actions import AgentAction
from handrail.model.codec import encode
from handrail.model.events import StepBegan
from handrail.model.guidance import DelegateAction, GuidedAction
from handrail.model.plan import Plan, Step
from handrail.model.run import RunState
from handrail.model.settings import AgentTask
from handrail.model.values import JsonValue, Prompt


def begin_outside(plan: Plan, state: RunState, step: Step, at: Moment) -> StepBegan:
    """Give the event that makes a step pending, with everything that is known of it now."""
    return StepBegan(
        address=at.address,
        action=step.action.kind,
        attempt=at.attempt,
        spec=_spec(plan, state, step),
        output=step.output or "",
        at=at.now,
        why=at.why,
    )


def _spec(plan: Plan, state: RunState, step: Step) -> Spec:
    match step.action:
        case GuidedAction():
            return guided_spec(plan, step.action, visible(plan, state), loop_of(plan, state))
        case DelegateAction():
            return delegate_spec(step.action, visible(plan, state), loop_of(plan, state))
        case AgentAction():
            own = {each.name: value_of(each.value, state) for each in step.input}
            return agent_spec(state, step, step.action.task, own)
        case _:
            return {}


def loop_of(plan: Plan, state: RunState) -> Spec | None:
    """Say in which round of which loop the current step stands."""
    found, around = innermost(plan, state), holder(plan, state)
    if found is None or around is None:
        return None
    action, loop = found
    return {"id": around.name, "title": action.title, "iteration": loop.round, "most": action.max_iterations}


def agent_spec(state: RunState, step: Step, task: AgentTask, own: Mapping[str, JsonValue]) -> Spec:
    """Give what an agent is asked, its prompt rendered."""
    extra = {**own, **{name: value_of(value, state, own) for name, value in task.with_values}}
    spec: Spec = {
        "prompt": rendered_prompt(task.prompt, state, extra),
        "system_prompt": rendered_prompt(task.system_prompt, state, extra) if task.system_prompt is not None else None,
        "agent": task.agent,
        "model": task.model,
        "access": task.access,
        "session": task.session,
        "single_turn": task.single_turn,
        "allowed_tools": list(task.allowed_tools) if task.allowed_tools is not None else None,
        "disallowed_tools": list(task.disallowed_tools),
        "returns": encode(step.returns) if step.returns is not None else None,
        "prompt_file": task.prompt.file,
        "prompt_version": task.prompt.version,
        "input": dict(own),
    }
    return {name: value for name, value in spec.items() if value not in (None, [], {}, False)}


def rendered_prompt(prompt: Prompt, state: RunState, extra: Mapping[str, JsonValue]) -> str:
    """Render a prompt on a run's values; a plain one is only text."""
    if prompt.syntax != "template":
        return prompt.text
    template, wanted = _parsed(prompt.text)
    return render(template, scope_for(state, wanted, extra))


@lru_cache(maxsize=1024)
def _parsed(text: str) -> tuple[Template, tuple[Ref, ...]]:
    template = parse_template(text)
    return template, template_refs(template)
