"""Reads and writes the stream of a pull request: under its lease, whoever records something, and each fact once."""

import asyncio
import json
from collections.abc import Callable
from typing import Any, TypeAlias, cast

from handrail.engine.fold.pull_requests import fold_facts, summarize
from handrail.errors import LogConflict, StorageDamaged
from handrail.model.codec import decode, encode
from handrail.model.history.run_lines import Filter, Row, is_updated_by
from handrail.model.pull_request_facts import VERSION, PullRequestFact, PullRequestRecord
from handrail.model.pull_requests import STREAM
from handrail.model.secrets.redaction import Redactor
from handrail.model.workflow.values import JsonValue
from handrail.ports.log import Append, Holder, Lease, Log, NewEvent, StoredEvent
from handrail.runtime.event_records import redact_value

Decide: TypeAlias = Callable[[PullRequestRecord], tuple[PullRequestFact, ...]]
"""Returns what is new, given what is recorded."""
TIMEOUT = 20.0
"""Seconds to wait for another process that records something about the same pull request."""
_POLL_INTERVAL = 0.02
_HOLDER = "handrail"


def read_facts(log: Log, stream: str) -> tuple[PullRequestFact, ...]:
    """Read all facts of a pull request."""
    return tuple(map(_decode_fact, log.read(stream)))


def read_record(log: Log, stream: str) -> PullRequestRecord:
    """Return what is recorded about a pull request; an empty record if there is nothing."""
    return fold_facts(PullRequestRecord(name=stream.removeprefix(STREAM)), read_facts(log, stream))


def list_records(log: Log, root: str | None = None, *, only_open: bool = False) -> tuple[PullRequestRecord, ...]:
    """List the pull requests of a run and all that come from it, or of all runs; the most recently changed first."""
    return tuple(read_record(log, row.key) for row in list_entries(log, root, only_open=only_open))


def list_entries(log: Log, root: str | None = None, *, only_open: bool = False) -> tuple[Row, ...]:
    """List the entries of the same pull requests, without reading their facts.

    One that another run opened belongs to a run as well if that updated it.
    """
    wanted = Filter(prefix=STREAM, runs_only=False, root=root, status="open" if only_open else None)
    rows = log.summaries(wanted)
    if root is not None:
        shared = log.summaries(wanted._replace(root=None, holding=("others",)))
        rows += tuple(row for row in shared if is_updated_by(row.document, root))
    return rows


async def record_facts(log: Log, stream: str, decide: Decide, redactor: Redactor) -> tuple[PullRequestFact, ...]:
    """Record what is new about a pull request, and return it."""
    lease = await _acquire(log, stream)
    try:
        before = read_record(log, stream)
        facts = decide(before)
        if not facts:
            return ()
        after = fold_facts(before, facts)
        events = tuple(_encode_fact(fact, redactor) for fact in facts)
        log.append([Append(stream, before.seq, events, summary=summarize(after))], [lease])
        return facts
    finally:
        log.release(lease)


async def _acquire(log: Log, stream: str) -> Lease:
    until = asyncio.get_running_loop().time() + TIMEOUT
    while isinstance(lease := log.acquire(stream, _HOLDER), Holder):
        if asyncio.get_running_loop().time() > until:
            raise LogConflict(f"process {lease.pid} has been writing to {stream} for a while", next_step="try again")
        await asyncio.sleep(_POLL_INTERVAL)
    return lease


def _encode_fact(fact: PullRequestFact, redactor: Redactor) -> NewEvent:
    fields = cast("dict[str, JsonValue]", encode(fact))
    clean = {name: value if name in _PLAIN else redact_value(value, redactor) for name, value in fields.items()}
    return NewEvent(fact.kind, VERSION, json.dumps(clean, separators=(",", ":")).encode())


_PLAIN = frozenset({"kind", "at", "run", "root", "step", "commit", "merged", "head", "base", "repository", "verdict"})
"""Fields that hold names: masking them would break the references."""


def _decode_fact(stored: StoredEvent) -> PullRequestFact:
    try:
        return cast("PullRequestFact", decode(cast("type[Any]", PullRequestFact), json.loads(stored.payload)))
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        message = f"{stored.stream} cannot be read: event {stored.seq} ({stored.kind}): {error}"
        raise StorageDamaged(
            message, next_step="report it, with the message", stream=stored.stream, intact=stored.seq - 1
        ) from error
