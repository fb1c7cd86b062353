"""Builds one call of an agent: its text and its terms, as the intent records them.

1. Everything that decides the call is evaluated here, before anything is started; replaying never does it again.
2. An attempt after a failed one continues in the conversation of the failed one, and gets the error.
3. Calls are counted by address, whatever the round: the count distinguishes one call from the next.
"""

import json
from collections.abc import Mapping
from dataclasses import field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from handrail.engine.contracts.returns import schema_of
from handrail.engine.prompts.choose_agent import Choice, choose_agent, count_fallbacks, gather_agent_settings
from handrail.engine.prompts.compose import PromptContent, compose_prompt, proof_words
from handrail.engine.prompts.conversation_summary import summarize_conversation
from handrail.engine.prompts.handoff import handoff
from handrail.engine.prompts.person_messages import messages_for_agent
from handrail.engine.state.agent_calls import turn_key
from handrail.engine.state.position import step_name_of
from handrail.engine.state.scope import current_step, scope_for, value_of
from handrail.engine.text.marked_values import ForeignValue, MarkedText, Piece, mark_values
from handrail.frozen import frozen
from handrail.language.expressions.refs import Ref
from handrail.language.expressions.unparse import unparse
from handrail.language.templates.parse import OutputValue, Template, parse_template, render_parts, template_refs
from handrail.late_import import late_import
from handrail.model.history.events import Event, StepBegan, Why
from handrail.model.history.run_state import RunState, StepState
from handrail.model.names import make_identifier
from handrail.model.workflow.agent_names import AgentNames
from handrail.model.workflow.guidance import Assessment, GuidedWorkflow
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.settings import NO_PROJECT, AgentTask, Project, confinement
from handrail.model.workflow.values import JsonValue, Prompt

if TYPE_CHECKING:
    from handrail.engine.prompts import demands
    from handrail.engine.state import capabilities
else:
    capabilities = late_import("handrail.engine.state.capabilities")
    demands = late_import("handrail.engine.prompts.demands")


@frozen(kw_only=True)
class AgentRequest:
    """One call of an agent that a step wants."""

    task: AgentTask
    address: str
    names: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """Values that only this prompt sees."""
    schema: JsonValue = None
    attempt: int = 1
    attempts: int = 1
    failed: str = ""
    """Why the last attempt was not accepted."""
    proofs: tuple[str, ...] = ()
    findings: JsonValue = None
    """The findings of a review, which the agent is shown whether its prompt names them or not."""
    timeout: int | None = None
    room: Mapping[str, float] = field(default_factory=dict[str, float])
    """What the budgets leave for the call, of the amounts that an agent reports during a call."""
    counted: tuple[str, ...] = ()
    """The addresses whose calls count towards the task's own budget, if more than this one."""
    output: str = ""
    why: Why | None = None
    guided: GuidedWorkflow | None = None
    """The guidance of the whole workflow."""
    assessments: tuple[Assessment, ...] = ()
    """The assessments that the step asks for."""
    questions: tuple[JsonValue, ...] = ()
    """Capabilities that have not been observed yet."""


def build_call_intent(state: RunState, ask: AgentRequest, now: float, agent_names: AgentNames) -> StepBegan:
    """Build the intent of a call."""
    task = ask.task
    extra = {**ask.names, **{name: value_of(value, state, ask.names) for name, value in task.with_values}}
    choice = choose_agent(task, gather_agent_settings(state, agent_names), count_fallbacks(state, ask.address))
    session = session_of(state, ask, choice)
    sandbox, network = confinement(task, state.agents)
    system = _join_note(render_prompt(task.system_prompt, state, extra)) if task.system_prompt is not None else None
    demanded = _ResultDemands(ask.schema) if not ask.assessments and not ask.questions else _build_demands(state, ask)
    spec: dict[str, JsonValue] = {
        "prompt": _text(state, ask, extra, session, demanded),
        "agent_role": task.role,
        "assessments": list(demanded.assessments),
        "capabilities": list(ask.questions),
        "system_prompt": system,
        "agent": choice.agent,
        "model": choice.model,
        "chosen": choice.why or None,
        "instead": list(choice.instead),
        # A script costs what the agent that it replaces would cost.
        "priced_as": f"{task.agent}/{task.model or ''}" if state.script and task.agent else None,
        "access": task.access,
        "session": session,
        # Whether the conversation already contains this step's own prompt, not only that of another step.
        "goes_on": _goes_on(state, ask, session),
        "single_turn": task.single_turn,
        "suppress_thoughts": task.suppress_thoughts,
        "no_comment": task.no_comment,
        "allowed_tools": list(task.allowed_tools) if task.allowed_tools is not None else None,
        "disallowed_tools": list(task.disallowed_tools),
        "handrail_tools": list(task.handrail_tools),
        "tmux": task.tmux,
        "sandbox": sandbox if sandbox != "none" else None,
        "network": None if network or sandbox == "none" else "off",
        "schema": demanded.schema,
        "prompt_file": task.prompt.file,
        "prompt_version": task.prompt.version,
        "turn": state.turns.get(turn_key(ask.address), 0) + 1,
        "turn_in_round": state.turns.get(ask.address, 0) + 1,
        "timeout": ask.timeout,
        "idle_timeout": task.idle_timeout or state.agents.idle_timeout or None,
        "room": dict(ask.room),
        "input": dict(ask.names),
    }
    kept = {name: value for name, value in spec.items() if value not in (None, [], {}, False)}
    return StepBegan(
        address=ask.address,
        action="agent",
        attempt=ask.attempt,
        spec={**kept, "turn": spec["turn"]},
        output=ask.output,
        at=now,
        why=ask.why,
    )


def build_ask(step: Step, task: AgentTask, own: Mapping[str, JsonValue], project: Project = NO_PROJECT) -> AgentRequest:
    """Build the part of a call that comes from its plain agent step."""
    return AgentRequest(
        task=task,
        address="",
        names=own,
        schema=schema_of(step.returns) if step.returns is not None else None,
        attempts=step.retry.more + 1,
        proofs=proof_words(step.done_when, project),
        timeout=step.timeout,
        output=step.output or "",
    )


def add_guidance(ask: AgentRequest, plan: Plan, state: RunState, step: Step | None = None) -> AgentRequest:
    """Add the guidance of the workflow, and what the step asks for beside its work, to a call."""
    if plan.guided is None and (step is None or not step.assess):
        return ask
    known = {each.id: each for each in plan.assessments}
    wanted = () if step is None else tuple(known[name] for name in step.assess if name in known)
    unsure = () if step is None or plan.guided is None else tuple(capabilities.open_questions(plan, state))
    return replace(ask, guided=plan.guided, assessments=wanted, questions=unsure)


def decide_before_call(
    plan: Plan, state: RunState, ask: AgentRequest, now: float, agent_names: AgentNames
) -> Event | None:
    """Return the event to record before an agent is called, or instead of the call; None if there is none."""
    if plan.guided is None or not plan.guided.capabilities or state.held_by:
        return None
    choice = choose_agent(ask.task, gather_agent_settings(state, agent_names), count_fallbacks(state, ask.address))
    known = capabilities.capability_statuses(
        agent_names.capabilities.get(choice.agent or "", ()), ask.task, state.agents
    )
    return capabilities.check_before_call(
        plan, state, known, capabilities.UpcomingCall(choice.agent or "", ask.address, now)
    )


def session_of(state: RunState, ask: AgentRequest, choice: Choice) -> str:
    """Return the session to continue, or none; a session stays with the agent that began it."""
    known = state.steps.get(ask.address)
    again = ask.attempt > 1 or ask.address in state.answers or step_name_of(state, ask.address) in state.feedback
    again = again or _breaks_off(state, known, ask.address)
    if again and known is not None and known.session:
        return _session_if_same_agent(known, choice)
    if ask.task.session == "fresh" or ask.task.carry == "summary":
        return ""
    before = state.steps.get(state.latest.get(make_identifier(ask.task.session), ""))
    return "" if before is None else _session_if_same_agent(before, choice)


def _breaks_off(state: RunState, known: StepState | None, address: str) -> bool:
    """Whether the last call was ended by a budget or a limit, or a person said something meanwhile."""
    failure = state.failure
    cut_short = failure is not None and failure.hindrance in ("budget", "wait") and failure.address == address
    return cut_short or (known is not None and known.status == "waiting")


def _session_if_same_agent(step: StepState, choice: Choice) -> str:
    return step.session if step.agent in ("", choice.agent) else ""


def _join_note(marked: MarkedText) -> str:
    return f"{marked.text.rstrip()}\n\n{marked.note}" if marked.note else marked.text


@frozen
class _ResultDemands:
    """What a call asks for beside the work."""

    schema: JsonValue = None
    example: JsonValue = None
    assessments: tuple[JsonValue, ...] = ()
    sections: tuple[str, ...] = ()


def _build_demands(state: RunState, ask: AgentRequest) -> _ResultDemands:
    """Ask for artifacts in the result; a connected agent learns of them with its step, and submits them separately."""
    wanted = tuple(demands.assessment_spec(each) for each in ask.assessments)
    if state.held_by:
        return _ResultDemands(ask.schema, assessments=wanted)
    schema, example = demands.add_artifacts_to_schema(ask.schema, (*wanted, *ask.questions))
    sections = (
        *demands.assessment_sections(list(wanted), demands.IN_RESULT),
        *demands.capability_sections(list(ask.questions)),
    )
    return _ResultDemands(schema, example, wanted, sections)


def _guides(state: RunState, ask: AgentRequest, session: str) -> tuple[str, ...]:
    """Return the guidance of the workflow: in full in a new conversation, in short in a continued one.

    A connected agent gets it with its first step.
    """
    if ask.guided is None or state.held_by:
        return ()
    tell = demands.compact_guides if session else demands.full_guides
    return tell(ask.guided, state.unresolved)


def _text(
    state: RunState, ask: AgentRequest, extra: Mapping[str, JsonValue], session: str, demanded: _ResultDemands
) -> str:
    marked = mark_values(_pieces_of(ask.task, state, extra))
    told = PromptContent(
        prompt=marked.text,
        marks=marked.note,
        role=ask.task.role or "",
        after=ask.task.after,
        guides=_guides(state, ask, session),
        demands=demanded.sections,
        example=demanded.example,
        # A conversation that continues already contains it.
        handoff="" if session else handoff(state, ask.task.handoff),
        carried="" if session else summarize_conversation(state, ask.task),
        findings=_findings_text(ask),
        output=ask.output,
        proofs=ask.proofs,
        # A connected agent learns with its step what form the result has and where it goes.
        schema=None if state.held_by else demanded.schema,
        failed=ask.failed,
        revision=state.feedback.get(step_name_of(state, ask.address), ""),
        answer=state.answers.get(ask.address, ""),
        messages=messages_for_agent(state, ask.address),
        attempt=ask.attempt,
        attempts=ask.attempts,
        access=ask.task.access,
        no_comment=ask.task.no_comment,
        goes_on=_goes_on(state, ask, session),
    )
    return compose_prompt(told)


def _goes_on(state: RunState, ask: AgentRequest, session: str) -> bool:
    known = state.steps.get(ask.address)
    return known is not None and session != "" and known.session == session


def _findings_text(ask: AgentRequest) -> str:
    if ask.findings is None or "findings" in _names_read_by(ask.task.prompt):
        return ""
    return json.dumps(ask.findings, ensure_ascii=False, indent=2)


def _names_read_by(prompt: Prompt) -> set[str]:
    """List the names that a prompt reads."""
    return {ref.parts[0] for ref in _parse_prompt(prompt.text)[1]} if prompt.syntax == "template" else set()


def render_prompt(prompt: Prompt, state: RunState, extra: Mapping[str, JsonValue]) -> MarkedText:
    """Render a prompt with a run's values; a plain one is only text."""
    return mark_values(_pieces(prompt, state, extra))


def _pieces(prompt: Prompt, state: RunState, extra: Mapping[str, JsonValue]) -> list[Piece]:
    if prompt.syntax != "template":
        return [prompt.text]
    template, wanted = _parse_prompt(prompt.text)
    bare = {each.number: each.words for each in prompt.bare}
    return [_piece(each, bare) for each in render_parts(template, scope_for(state, wanted, extra))]


def _pieces_of(task: AgentTask, state: RunState, extra: Mapping[str, JsonValue]) -> list[Piece]:
    """Render a task's prompt, inside its handoff template if it has one."""
    own = _pieces(task.prompt, state, extra)
    if task.handoff_template is None:
        return own
    # The prompt's values are marked together with those of the template, so a placeholder stands for it until then.
    here = {**current_step(state), "prompt": _OWN_PROMPT}
    around = _pieces(task.handoff_template, state, {**extra, "current_step": here})
    return [piece for each in around for piece in (own if each == _OWN_PROMPT else [each])]


def _piece(part: str | OutputValue, bare: Mapping[int, tuple[str, ...]]) -> Piece:
    if isinstance(part, str):
        return part
    if part.value is None or isinstance(part.value, bool | int | float):
        return part.text
    words = bare.get(part.output.number)
    is_bare = words is not None and (not words or part.value in words)
    return part.text if is_bare else ForeignValue(unparse(part.output.expression), part.text)


_OWN_PROMPT = "\0current_step.prompt\0"
"""Stands for a prompt while the text around it is rendered."""


@lru_cache(maxsize=1024)
def _parse_prompt(text: str) -> tuple[Template, tuple[Ref, ...]]:
    template = parse_template(text)
    return template, template_refs(template)
