"""Explains why each step ran, was skipped or repeated, with the values that decided; read from the events alone."""

import json
from collections.abc import Callable, Iterator
from heapq import merge
from typing import Any

from handrail.engine.fold.pull_requests import describe_fact
from handrail.engine.state.agent_calls import call_of
from handrail.errors import NotFound
from handrail.frozen import frozen
from handrail.model.actors import actor_words
from handrail.model.history import events as ev
from handrail.model.pull_requests import STREAM
from handrail.model.suggest import did_you_mean
from handrail.operations.views.event_sentences import (
    address_of,
    agent_words,
    denials_in,
    event_sentence,
    files_left_out_in,
    prompt_words,
    proofs_in,
)
from handrail.operations.views.pull_requests import find_pull_requests
from handrail.operations.views.run_document import iso
from handrail.operations.views.step_addresses import Member, is_same_step, members
from handrail.operations.workflows.condition_text import short_hash
from handrail.ports.log import Log
from handrail.runtime.history import events_of
from handrail.runtime.pull_request_log import read_facts

MAX_LENGTH = 120
"""The number of characters of a value that are shown."""
DECIDED: dict[ev.Decision, str] = {"approve": "approved", "revise": "sent back", "reject": "rejected"}


@frozen
class Reason:
    """One thing that happened to a step, and why."""

    seq: int
    address: str
    at: float
    what: str
    why: ev.Why | None = None
    pull_request: str = ""
    """The pull request that it happened to; its number `seq` is then one of that history."""


def explain(log: Log, run: str, step: str | None = None) -> tuple[Reason, ...]:
    """List the reasons of a run, or of one step at all its addresses, including the runs of items and calls."""
    if step is None:
        beside = _pull_request_reasons(log, run)
        return tuple(merge(_reasons(log, Member(run)), beside, key=lambda each: each.at))
    family = members(log, run)
    whole = next((each for each in family if each.whole == step), None)
    if whole is not None:
        return tuple(_reasons(log, whole))
    found = [each for member in family for each in _reasons(log, member)]
    found += _pull_request_reasons(log, run)
    name = step.rpartition("@")[0] if step.rpartition("@")[2].isdigit() else ""
    wanted = tuple(each for each in found if is_same_step(each.address, step))
    wanted = wanted or tuple(each for each in found if name and each.address == name)
    if not wanted:
        known = tuple(dict.fromkeys(each.address for each in found if each.address))
        message = f"nothing was recorded for a step '{step}' of {run}{did_you_mean(step, known)}"
        raise NotFound(message, next_step=f"steps: {', '.join(known) or 'none'}")
    return wanted


def describe_why(why: ev.Why) -> str:
    """Format a condition with its values: `n > 3 is false (n = 2)`."""
    result = json.dumps(why.result)
    values = ", ".join(f"{name} = {shorten_value(value)}" for name, value in why.values.items())
    return f"{why.condition} is {result}" + (f" ({values})" if values else "")


def shorten_value(value: object) -> str:
    """Format a value as one short text."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 1] + "…"


def reason_data(reason: Reason) -> dict[str, Any]:
    """Convert a reason to JSON data."""
    why = reason.why
    decided = None if why is None else {"condition": why.condition, "values": why.values, "result": why.result}
    told = {"seq": reason.seq, "step": reason.address, "at": iso(reason.at), "what": reason.what, "why": decided}
    return {**told, "pull_request": reason.pull_request} if reason.pull_request else told


def _reasons(log: Log, member: Member) -> Iterator[Reason]:
    previous = ""
    for seq, event in events_of(log, member.run):
        say = _WORDS.get(event.kind)
        what = event_sentence(event) if say is None else say(event, previous)
        if what is not None:
            address = address_of(event)
            shown = f"{member.via}{address}" if address else ""
            yield Reason(seq, shown, event.at, what or "done", getattr(event, "why", None))
        previous = _describe_cause(event) or previous


def _pull_request_reasons(log: Log, run: str) -> Iterator[Reason]:
    """Yield what happened to the pull requests of a run, also after it was over."""
    for record in find_pull_requests(log, run):
        for seq, fact in enumerate(read_facts(log, f"{STREAM}{record.name}"), 1):
            what = f"pull request #{record.number}: {describe_fact(fact)}"
            yield Reason(seq, record.step, fact.at, what, pull_request=record.name)


def _describe_cause(event: ev.Event) -> str:
    say = _CAUSES.get(event.kind)
    return "" if say is None else say(event)


def _describe_step_began(event: ev.StepBegan, previous: str) -> str:
    again = f"try {event.attempt}, " if event.attempt > 1 else ""
    return f"{again}ran because {previous or 'the run began'}{_describe_performer(event)}"


def _describe_performer(event: ev.StepBegan) -> str:
    """Describe which agent performs the step and why that one, if an agent does."""
    call = call_of(event) or {}
    prompt = prompt_words(event)
    told = f", prompt {prompt}" if prompt else ""
    return (f", by {agent_words(call)} ({call['chosen']})" if call.get("chosen") else "") + told


def _describe_step_ended(event: ev.StepEnded, _: str) -> str:
    if event.status == "succeeded":
        denied = denials_in(event)
        told = f", though it was denied {denied}" if denied else ""
        by = f", done by {actor_words(event.by)}" if event.by else ""
        return f"succeeded{by}{_describe_proofs(event)}{told}{_describe_left_out_files(event)}"
    bad = [f"{each['what']}: {_first_line(each['detail'])}" for each in proofs_in(event) if not each["ok"]]
    if bad:
        return f"failed, not proven: {'; '.join(bad)}{_describe_left_out_files(event)}"
    return f"failed: {event.error or f'exit {event.exit_code}'}{_describe_left_out_files(event)}"


def _describe_left_out_files(event: ev.StepEnded) -> str:
    files = files_left_out_in(event)
    return f", its agent started without {files}, which you have not trusted" if files else ""


def _describe_proofs(event: ev.StepEnded) -> str:
    good = [str(each["what"]) for each in proofs_in(event)]
    return f", proven: {'; '.join(good)}" if good else ""


def _first_line(detail: object) -> str:
    return str(detail).partition("\n")[0]


def _describe_approval_decided(event: ev.ApprovalDecided, _: str) -> str:
    said = f": {event.feedback}" if event.feedback else ""
    back = f", goes back to '{event.target}'" if event.target else ""
    return f"{DECIDED[event.decision]} by {actor_words(event.by)}{said}{back}"


def _describe_loop_ended(event: ev.LoopEnded, _: str) -> str:
    said = {"done": "every round was done", "condition": "its condition ended it", "max": "its limit was reached"}
    return f"ended: {said.get(event.reason, 'a step left it')}"


def _describe_run_ended(event: ev.RunEnded, _: str) -> str:
    return f"run {event.status}" + (f": {event.message}" if event.message else "")


_WORDS: dict[str, Callable[[Any, str], str]] = {
    "run_started": lambda event, _: f"run began, pinned {short_hash(event.definition)}",
    "run_forked": lambda event, _: f"run copied from {event.source} before event {event.seq}",
    "step_skipped": lambda _, __: "skipped",
    "step_chosen": lambda _, __: "chosen because the steps before it do not apply",
    "step_refused": lambda event, _: "not done yet: " + "; ".join(each.message for each in event.shortfalls),
    "step_began": _describe_step_began,
    "step_ended": _describe_step_ended,
    "retry_scheduled": lambda event, _: f"try {event.attempt} follows at {iso(event.due)}",
    "loop_entered": lambda _, previous: f"ran because {previous or 'the run began'}",
    "round_started": lambda event, _: f"round {event.round} began",
    "round_ended": lambda event, _: f"round {event.round} " + (f"failed: {event.error}" if event.failed else "done"),
    "loop_ended": _describe_loop_ended,
    "group_entered": lambda _, previous: f"ran because {previous or 'the run began'}",
    "approval_requested": lambda _, previous: f"asked because {previous or 'the run began'}",
    "approval_decided": _describe_approval_decided,
    "child_started": lambda event, previous: f"started {event.child} because {previous or 'the run began'}",
    "call_requested": lambda event, _: f"called by the flow, as its call {event.number}: {event.asks}",
    "run_waits": lambda event, _: f"run waits: {event.message or event.reason}",
    "work_entered": lambda event, previous: f"{event_sentence(event)}, because {previous or 'the run began'}",
    "run_blocked": lambda event, _: f"run needs a person: {event.message}",
    "run_resumed": lambda event, _: f"run resumed by {actor_words(event.by)}",
    "run_rewound": lambda event, _: f"run went back to '{event.to}' (event {event.seq}) by {actor_words(event.by)}",
    "run_taken": lambda event, _: f"run taken by {actor_words(event.by)}",
    "run_released": lambda event, _: f"run released by {actor_words(event.by)}",
    "run_imported": lambda event, _: f"run imported by {actor_words(event.by)}; it was {event.original}",
    "run_ended": _describe_run_ended,
}

_CAUSES: dict[str, Callable[[Any], str]] = {
    "step_ended": lambda event: f"'{event.address}' {event.status}",
    "step_skipped": lambda event: f"'{event.address}' was skipped",
    "step_passed_over": lambda event: (
        f"'{event.address}' {'succeeded' if event.how == 'answered' else 'failed and was passed over'}"
    ),
    "approval_decided": lambda event: f"'{event.address}' was {DECIDED[event.decision]} by {actor_words(event.by)}",
    "loop_ended": lambda event: f"'{event.address}' ended",
    "work_left": lambda event: f"'{event.address}' {event.status}",
    "question_answered": lambda event: f"{actor_words(event.by)} answered its question",
    "message_given": lambda event: f"{actor_words(event.by)} sent a message",
    "group_left": lambda event: f"'{event.address}' ended",
    "round_started": lambda event: f"round {event.round} of '{event.address}' began",
    "run_resumed": lambda event: f"the run was resumed by {actor_words(event.by)}",
    "run_rewound": lambda event: f"the run went back to '{event.to}'",
}
"""Kind of event -> how it is worded as the cause of what follows."""
