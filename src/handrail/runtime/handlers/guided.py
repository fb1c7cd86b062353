"""Performs a guided step with an agent of the engine's own, by the same demands as for an agent from outside."""

from dataclasses import replace

from handrail.engine.decide.complete_guided import Submission, complete_guided, refuse_unproven
from handrail.engine.guided.agent_call import build_repair_call
from handrail.engine.state import budgets
from handrail.engine.state.agent_calls import call_of, turn_key
from handrail.engine.state.position import find_current_step
from handrail.engine.state.preferences import gap_of, split_shortfalls
from handrail.frozen import frozen
from handrail.model.history.events import (
    Event,
    GapRecorded,
    RunBlocked,
    Shortfall,
    StepBegan,
    StepEnded,
    StepRefused,
    WorkReported,
)
from handrail.model.history.named_blobs import Stream
from handrail.model.history.run_state import Pending, RunState
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue
from handrail.runtime.handlers.agents.handler import AgentHandler

_KEPT = ("session", "summary", "spent", "agent", "used", "project_files")


@frozen
class GuidedHandler:
    """Performs guided steps."""

    agents: AgentHandler

    async def perform(
        self, plan: Plan, state: RunState, pending: Pending, began: StepBegan, refused: StepRefused | None
    ) -> tuple[Event, ...]:
        """Call the agent, and accept its result or ask it for what is missing."""
        spent = (
            None
            if refused is None
            else budgets.find_reached_limit(plan, state, find_current_step(plan, state)[0], pending.address)
        )
        if spent is not None:
            return (budgets.block_at_limit(spent, pending.address, self.agents.clock()),)
        ended = await self.agents.perform(state, pending, build_call(state, began, refused), None)
        if not isinstance(ended, StepEnded) or ended.status == "failed":
            return (ended,)
        completion = complete_guided(plan, state, pending.seq, parse_submission(ended.output), ended.at)
        details = {name: ended.details[name] for name in _KEPT if name in ended.details}
        # Whether the next call continues this one, or the step begins again after a person was asked.
        details["again"] = not any(_is_restart(event) for event in completion.events)
        return tuple(_add_details(event, details, ended.printed) for event in completion.events)

    async def stop(self, state: RunState, pending: Pending, began: StepBegan) -> None:
        """End the agent's call."""
        await self.agents.stop(state, pending, build_call(state, began, None))


def build_call(state: RunState, began: StepBegan, refused: StepRefused | None) -> StepBegan:
    """Build the agent call of a guided step; after a refusal its conversation continues with what is missing."""
    call = call_of(began) or {}
    if refused is not None:
        turns = {"turn": state.turns[turn_key(began.address)], "turn_in_round": state.turns[began.address]}
        call = {**call, **build_repair_call(began, refused), **turns}
    return replace(began, action="agent", spec=call)


def parse_submission(output: JsonValue) -> Submission:
    """Read the result of an agent; text that is not a record becomes its notes."""
    if not isinstance(output, dict):
        return Submission(by="", notes="" if output is None else str(output))
    inner = output.get("output")
    if isinstance(inner, dict):
        # The agent used the format of connected agents.
        output = {**output, **inner}
    artifacts, context = output.get("artifacts"), output.get("context")
    return Submission(
        by="",
        notes=str(output.get("notesMarkdown") or output.get("notes") or ""),
        artifacts=tuple(artifacts) if isinstance(artifacts, list) else (),
        context=context if isinstance(context, dict) else {},
    )


def conclude(plan: Plan, state: RunState, pending: Pending, report: WorkReported, now: float) -> tuple[Event, ...]:
    """Accept what a connected agent submitted for a step that must be proven before it is over."""
    given = Submission(by=report.by, notes=report.text, artifacts=report.artifacts, context=report.context)
    return complete_guided(plan, state, pending.seq, given, now).events


def refuse_without_proof(
    state: RunState, pending: Pending, events: tuple[Event, ...], ended: StepEnded
) -> tuple[Event, ...]:
    """Replace the end of a step whose proof does not hold by a refusal; a run that never stops goes on with a gap."""
    fix = str(ended.details.get("feedback") or "fix the cause, then complete the step again")
    shortfall = Shortfall("not_proven", ended.error, "done_when", fix)
    if split_shortfalls(state, (shortfall,))[1]:
        gap = gap_of(shortfall, pending.address, ended.at)
        over = replace(ended, status="succeeded", error="")
        return tuple(each for event in events for each in ((gap, over) if isinstance(event, StepEnded) else (event,)))
    kept = (each for each in events if not isinstance(each, StepEnded | GapRecorded))
    return (*kept, *refuse_unproven(state, pending, ended, shortfall))


def _is_restart(event: Event) -> bool:
    return isinstance(event, RunBlocked) and event.reason != "capability"


def _add_details(event: Event, details: dict[str, JsonValue], printed: Stream) -> Event:
    if isinstance(event, StepRefused):
        return replace(event, details={**event.details, **details}, printed=printed)
    if isinstance(event, StepEnded):
        chosen = {name: details[name] for name in _KEPT if name in details}
        return replace(event, details={**event.details, **chosen}, printed=printed)
    return event
