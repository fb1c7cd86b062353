"""Lets the engine call an agent for a guided step: the same words and demands as for an agent that is connected."""

from dataclasses import replace

from handrail.engine.guided.hand_out import begin_outside
from handrail.engine.guided.repairs import refusal_text
from handrail.engine.guided.texts import opening_questions, step_text
from handrail.engine.state.agent_calls import call_of
from handrail.engine.state.position import Moment
from handrail.model.history.events import Event, StepBegan, StepRefused
from handrail.model.history.run_state import RunState
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.settings import AgentTask
from handrail.model.workflow.values import JsonValue, Prompt

SCHEMA: JsonValue = {
    "type": "object",
    "properties": {
        "notesMarkdown": {"type": "string", "description": "what was done, decided, found and left open"},
        "artifacts": {"type": "array", "items": {"type": "object"}, "description": "what the step asks for"},
        "context": {"type": "object", "description": "values that later steps of the workflow read"},
    },
    "required": ["notesMarkdown"],
    "additionalProperties": False,
}
"""What an agent gives back for a guided step."""


def guided_task(plan: Plan, state: RunState, step: Step, at: Moment) -> AgentTask:
    """Give what is asked of an agent for a guided step; the conversation of the steps before goes on."""
    spec = dict(begin_outside(plan, state, step, at).spec)
    # It has nobody to ask: a person confirms its work once it is done.
    spec.pop("confirmation", None)
    # Rules are told with the call; what must be so before the work, and what to ask, belongs to its beginning.
    rules = opening_questions(plan.guided) if plan.guided is not None and not state.previous else ()
    text = _as_result(step_text(spec, notes_known=bool(state.previous), rules=rules))
    before = state.previous.rpartition("/")[2]
    return AgentTask(prompt=Prompt(text, "plain"), session=before or "fresh")


def _as_result(text: str) -> str:
    """Name the places of the result, which a connected agent fills as parts of its call."""
    return text.replace("`output.notesMarkdown`", "`notesMarkdown`").replace("`output.artifacts`", "`artifacts`")


def repaired(began: StepBegan, refused: StepRefused) -> dict[str, JsonValue]:
    """Give what is said to an agent whose work was refused: in its conversation, or with everything once more."""
    call = call_of(began) or {}
    session = refused.details.get("session") or call.get("session")
    again = _as_result(refusal_text(refused.shortfalls))
    text = again if session else f"{call.get('prompt', '')}\n\n{again}"
    return {"prompt": text, "session": session, "goes_on": bool(session)}


def called_again(began: StepBegan, refused: StepRefused) -> StepBegan:
    """Give the intent of a step after a refusal: the same step, its call made once more where the engine makes it."""
    call, again = call_of(began), replace(began, attempt=began.attempt + 1, at=refused.at)
    if call is None:
        return again
    turns: dict[str, JsonValue] = {
        name: int(str(call.get(name, 1))) + 1 for name in ("turn", "turn_in_round") if name in call
    }
    return replace(again, spec={**began.spec, "call": {**call, **repaired(began, refused), **turns}})


def as_guided(plan: Plan, state: RunState, step: Step, at: Moment, called: Event) -> Event:
    """Give the intent of a guided step that an agent is called for."""
    if not isinstance(called, StepBegan):
        return called
    outside = begin_outside(plan, state, step, at)
    return replace(outside, spec={**outside.spec, "call": called.spec})
