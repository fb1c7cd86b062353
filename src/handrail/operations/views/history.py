"""A run's events and steps, as they are shown."""

import re
from typing import Any, cast

from handrail.engine.state.agent_calls import call_of
from handrail.errors import UsageError
from handrail.model.codec import encode
from handrail.model.history.events import Event, StepBegan, StepEnded
from handrail.model.history.run_state import RunState, StepState
from handrail.model.parts import walk_steps
from handrail.operations.views.costs import sum_of
from handrail.operations.views.event_sentences import (
    address_of,
    agent_words,
    denials_in,
    files_left_out_in,
    proofs_in,
    spending_in,
)
from handrail.operations.views.money import spending_data
from handrail.operations.views.run_document import iso
from handrail.operations.views.step_addresses import (
    FoundStep,
    Try,
    find_member,
    find_steps,
    find_try,
    is_same_step,
    members,
    step_status,
    tries,
)
from handrail.ports.log import Log
from handrail.runtime.history import events_of, plan_of, state_of

_ROUND = re.compile(r"@\d+|\[[^\]]*\]")
"""What an address has besides the names of steps: rounds and the keys of items."""


def history(log: Log, run: str, step: str | None = None) -> list[tuple[int, str, Event]]:
    """List every event of a run, or of one of its steps, with its number and the address it is about."""
    if step is None:
        return [(seq, address_of(event), event) for seq, event in events_of(log, run)]
    inner = find_member(log, run, step)
    if inner is not None:
        return history(log, inner)
    find_steps(log, run, step)
    name = step.rpartition("@")[0] if step.rpartition("@")[2].isdigit() else step
    return [
        (seq, f"{member.via}{address_of(event)}", event)
        for member in members(log, run)
        for seq, event in events_of(log, member.run)
        if (address := address_of(event))
        and member.owns(address)
        and (is_same_step(f"{member.via}{address}", step) or f"{member.via}{address}" == name)
    ]


def event_data(seq: int, event: Event) -> dict[str, Any]:
    """Convert an event to JSON data."""
    return {"seq": seq, "kind": event.kind, "time": iso(event.at), **cast("dict[str, Any]", encode(event))}


def step_details(log: Log, run: str, step: str) -> list[dict[str, Any]]:
    """Describe a step, at each address where it ran."""
    return [_details(log, each) for each in find_steps(log, run, step)]


def prompt_of(log: Log, run: str, step: str) -> str:
    """Return the exact prompt of a step's agent, in its last call or in the one that is named."""
    found = find_steps(log, run, step)
    for each in reversed(found):
        call = find_try(log, each, _has_prompt)
        if call is not None and isinstance(call.begin, StepBegan) and _has_prompt(call):
            return str((call_of(call.begin) or {})["prompt"])
    raise UsageError(f"no agent was called for '{step}' of {run}", next_step=f"handrail show {run} {step}")


def denials(log: Log, run: str) -> tuple[str, ...]:
    """List the steps of a run that succeeded although their agents were denied tools, each with these tools."""
    ended = (event for _, event in events_of(log, run) if isinstance(event, StepEnded))
    return tuple(f"{each.address} ({words})" for each in ended if (words := denials_in(each)))


def list_left_out_files(log: Log, run: str) -> dict[str, str]:
    """Group the steps whose agents were started without files of the repository by these files."""
    found: dict[str, list[str]] = {}
    for _, event in events_of(log, run):
        if isinstance(event, StepEnded) and (files := files_left_out_in(event)):
            found.setdefault(files, []).append(event.address)
    return {files: ", ".join(dict.fromkeys(addresses)) for files, addresses in found.items()}


def _has_prompt(call: Try) -> bool:
    return isinstance(call.begin, StepBegan) and "prompt" in (call_of(call.begin) or {})


def _description(log: Log, state: RunState, address: str) -> str | None:
    """Return an author's description of a step."""
    steps = dict(walk_steps(plan_of(log, state.plan).steps))
    step = steps.get(_ROUND.sub("", address))
    return None if step is None else step.description or None


def _details(log: Log, found: FoundStep) -> dict[str, Any]:
    state = state_of(log, found.run)
    step = state.steps[found.address]
    known = tries(log, found.run, found.address)
    one = find_try(log, found)
    ended = one.end if one is not None and isinstance(one.end, StepEnded) else None
    call = (call_of(one.begin) if one is not None and isinstance(one.begin, StepBegan) else None) or {}
    meant = known if found.nth is None else known[found.nth - 1 : found.nth]
    calls = tuple(spent for each in meant if each.end is not None and (spent := spending_in(each.end)) is not None)
    return {
        "address": found.shown,
        "run": found.run,
        "description": _description(log, state, found.address),
        **(
            _details_from_event(ended)
            if found.nth is not None and ended is not None
            else _details_from_state(state, step)
        ),
        "attempts": step.attempts if found.nth is None else found.nth,
        "tries": len(known),
        "agent": agent_words(call) if "prompt" in call else None,
        "chosen": call.get("chosen"),
        "prompt": {"file": call["prompt_file"], "version": call.get("prompt_version") or None}
        if call.get("prompt_file")
        else None,
        "session": step.session or None,
        "denied": (denials_in(ended) if ended is not None else "") or None,
        "left_out": (files_left_out_in(ended) if ended is not None else "") or None,
        "cost": spending_data(sum_of(calls)) if calls else None,
        "proofs": [_proof(state, each) for each in proofs_in(ended)] if ended is not None else [],
        "feedback": step.feedback or None,
    }


def _details_from_state(state: RunState, step: StepState) -> dict[str, Any]:
    return {
        "status": step_status(state, step),
        "exit_code": step.exit_code,
        "error": step.error or None,
        "began_at": iso(step.began_at),
        "ended_at": iso(step.ended_at),
        "output": step.output,
        "stdout": step.stdout,
        "stderr": step.stderr,
    }


def _details_from_event(ended: StepEnded) -> dict[str, Any]:
    return {
        "status": ended.status,
        "exit_code": ended.exit_code,
        "error": ended.error or None,
        "began_at": None,
        "ended_at": iso(ended.at),
        "output": ended.output,
        "stdout": ended.stdout,
        "stderr": ended.stderr,
    }


def _proof(state: RunState, proof: dict[str, Any]) -> dict[str, Any]:
    """Mark a proof as stale if the files have changed: it holds only for those on which it was established."""
    stale = bool(proof.get("tree")) and bool(state.files) and proof["tree"] != state.files
    return {**proof, "stale": stale, "now": state.files}
