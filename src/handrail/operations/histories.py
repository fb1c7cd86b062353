"""A run's events and steps, as they are shown."""

from typing import Any, cast

from handrail.errors import NotFound
from handrail.model.codec import encode
from handrail.model.run import StepState
from handrail.operations.explaining import same_step
from handrail.operations.run_views import iso
from handrail.ports.log import Log
from handrail.runtime.histories import events_of, state_of


def history(log: Log, run: str) -> list[dict[str, Any]]:
    """Give every event of a run with its number and its time."""
    return [
        {"seq": seq, "kind": event.kind, "time": iso(event.at), **cast("dict[str, Any]", encode(event))}
        for seq, event in events_of(log, run)
    ]


def step_details(log: Log, run: str, step: str) -> list[dict[str, Any]]:
    """Give what is known of a step, at each address where it ran."""
    state = state_of(log, run)
    exact = [(step, state.steps[step])] if step in state.steps else []
    found = exact or [(address, each) for address, each in state.steps.items() if same_step(address, step)]
    if not found:
        known = ", ".join(sorted(state.steps)) or "none"
        raise NotFound(f"{run} has no step '{step}' yet", next_step=f"steps it has: {known}")
    return [_details(address, each) for address, each in sorted(found, key=lambda pair: pair[1].began)]


def _details(address: str, step: StepState) -> dict[str, Any]:
    return {
        "address": address,
        "status": step.status,
        "attempts": step.attempts,
        "exit_code": step.exit_code,
        "error": step.error or None,
        "feedback": step.feedback or None,
        "began_at": iso(step.began_at),
        "ended_at": iso(step.ended_at),
        "output": step.output,
        "stdout": step.stdout,
        "stderr": step.stderr,
    }
