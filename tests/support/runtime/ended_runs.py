"""Runs that end without anybody driving them."""

from handrail.engine.fold.apply import apply
from handrail.model.history.events import Event
from handrail.ports.log import Append, Lease, Log
from handrail.runtime.event_records import encode_event
from handrail.runtime.history import state_of
from handrail.runtime.run_summary import summary_of


def end_run(log: Log, run: str, *events: Event) -> None:
    """Record what happened in a run, with its line in lists, as a driver does."""
    state = state_of(log, run)
    before = state.seq
    for event in events:
        state = apply(state, event, state.seq + 1, log.get_blob)
    lease = log.acquire(run, "test")
    assert isinstance(lease, Lease)
    log.append([Append(run, before, tuple(map(encode_event, events)), summary=summary_of(state))], [lease])
    log.release(lease)
