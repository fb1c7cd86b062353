"""Lets the engine call an agent for a guided step, with the same texts and requirements as for a connected agent."""

from dataclasses import replace

from handrail.engine.guided.hand_out import begin_outside
from handrail.engine.guided.repairs import refusal_text
from handrail.engine.guided.texts import opening_questions, step_text
from handrail.engine.state.agent_calls import call_of
from handrail.engine.state.position import StepStart
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
"""The schema of what an agent returns for a guided step."""


def build_guided_task(plan: Plan, state: RunState, step: Step, at: StepStart) -> AgentTask:
    """Build the task of an agent for a guided step, in the conversation of the step before."""
    spec = dict(begin_outside(plan, state, step, at).spec)
    # The agent has nobody to ask: a person confirms its work once it is done.
    spec.pop("confirmation", None)
    # Rules are part of the call; preconditions and questions to ask belong to the start of the workflow.
    rules = opening_questions(plan.guided) if plan.guided is not None and not state.previous else ()
    text = _name_result_places(step_text(spec, notes_known=bool(state.previous), rules=rules))
    before = state.previous.rpartition("/")[2]
    return AgentTask(prompt=Prompt(text, "plain"), session=before or "fresh")


def _name_result_places(text: str) -> str:
    """Name the fields of the result, which a connected agent fills as parts of its call."""
    return text.replace("`output.notesMarkdown`", "`notesMarkdown`").replace("`output.artifacts`", "`artifacts`")


def build_repair_call(began: StepBegan, refused: StepRefused) -> dict[str, JsonValue]:
    """Return the message to a refused agent: in its conversation, or together with the whole prompt."""
    call = call_of(began) or {}
    session = refused.details.get("session") or call.get("session")
    again = _name_result_places(refusal_text(refused.shortfalls))
    text = again if session else f"{call.get('prompt', '')}\n\n{again}"
    return {"prompt": text, "session": session, "goes_on": bool(session)}


def call_again(began: StepBegan, refused: StepRefused) -> StepBegan:
    """Build the intent of a step after a refusal: the same step, with its call repeated where the engine makes it."""
    call, again = call_of(began), replace(began, attempt=began.attempt + 1, at=refused.at)
    if call is None:
        return again
    turns: dict[str, JsonValue] = {
        name: int(str(call.get(name, 1))) + 1 for name in ("turn", "turn_in_round") if name in call
    }
    return replace(again, spec={**began.spec, "call": {**call, **build_repair_call(began, refused), **turns}})


def build_guided_intent(plan: Plan, state: RunState, step: Step, at: StepStart, called: Event) -> Event:
    """Build the intent of a guided step for which an agent is called."""
    if not isinstance(called, StepBegan):
        return called
    outside = begin_outside(plan, state, step, at)
    return replace(outside, spec={**outside.spec, "call": called.spec})
