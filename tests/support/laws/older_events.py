"""A log as an older Handrail might have written it: all events have version 0, in which `at` was called `time`."""

import json
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Protocol, get_args, get_type_hints

from handrail.model.history.events import VERSION, Event
from handrail.ports.event_versions import LIFTERS, LIFTERS_IN_USE, Fields, Lifters
from handrail.ports.hash_chain import START, link
from handrail.ports.log import NewEvent

OLDER = 0
NEWER = VERSION + 1


def rename_time(fields: Fields) -> Fields:
    """Lift the fields of version 0; fails for an event that was lifted already, which has no `time`."""
    return {**{name: value for name, value in fields.items() if name != "time"}, "at": fields["time"]}


def kinds() -> tuple[str, ...]:
    return tuple(get_args(get_type_hints(event)["kind"])[0] for event in get_args(Event))


OLDER_LIFTERS: Lifters = {**LIFTERS, **{(kind, OLDER): rename_time for kind in kinds()}}


@contextmanager
def reading_older_events() -> Generator[None]:
    """Know the lifters of version 0, here and in what is called from here."""
    token = LIFTERS_IN_USE.set(OLDER_LIFTERS)
    try:
        yield
    finally:
        LIFTERS_IN_USE.reset(token)


def store_as_older(database: Path) -> None:
    """Turn every event of a closed log into one of version 0."""

    def change(event: NewEvent, of_run: str, *, is_last: bool) -> NewEvent:
        return NewEvent(event.kind, OLDER, _lower(event.payload))

    _rewrite(database, change)


def store_last_as_newer(database: Path, run: str) -> None:
    """Let the last event of a run be of a version that this Handrail does not know, with a field that is new."""

    def change(event: NewEvent, of_run: str, *, is_last: bool) -> NewEvent:
        if of_run != run or not is_last:
            return event
        fields = {**json.loads(event.payload), "mood": "good"}
        return NewEvent(event.kind, NEWER, json.dumps(fields).encode())

    _rewrite(database, change)


def _lower(payload: bytes) -> bytes:
    fields: dict[str, Any] = json.loads(payload)
    fields["time"] = fields.pop("at")
    return json.dumps(fields).encode()


class _Change(Protocol):
    def __call__(self, event: NewEvent, of_run: str, *, is_last: bool) -> NewEvent: ...


def _rewrite(database: Path, change: _Change) -> None:
    """Change events of a log, and with them the chain of hashes."""
    with closing(sqlite3.connect(database)) as connection, connection:
        for run, last in connection.execute("SELECT name, seq FROM streams").fetchall():
            head = START
            rows = connection.execute("SELECT kind, version, payload FROM events WHERE stream = ? ORDER BY seq", [run])
            for row in rows.fetchall():
                event = change(NewEvent(*row), run, is_last=head.seq + 1 == last)
                head = link(run, head, event)
                values = (event.version, event.payload, head.hash, run, head.seq)
                connection.execute(
                    "UPDATE events SET version = ?, payload = ?, hash = ? WHERE stream = ? AND seq = ?", values
                )
            connection.execute("UPDATE streams SET hash = ? WHERE name = ?", [head.hash, run])
        connection.execute("DELETE FROM checkpoints")
