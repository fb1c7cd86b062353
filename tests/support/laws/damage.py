"""Damages one run of a log in every way that a row can be damaged, behind the back of whoever has it open."""

import json
from collections.abc import Callable

from handrail.model.history.run_lines import Row
from handrail.ports.hash_chain import START, link
from handrail.ports.log import NewEvent, StoredEvent
from handrail.store.memory.log import MemoryWorld
from handrail.store.memory.state import State

SEND = "INSERT INTO inbox (stream, key, payload) VALUES"
PLAN = "SELECT json_extract(document, '$.plan') FROM streams WHERE name = ?1"
SQL = {
    "undecodable event": "UPDATE events SET payload = x'7b' WHERE stream = ?1 AND seq = 2",
    "event that is no text": "UPDATE events SET payload = x'ff00ff' WHERE stream = ?1 AND seq = 2",
    "first event": "UPDATE events SET payload = x'7b7d' WHERE stream = ?1 AND seq = 1",
    "unknown kind": "UPDATE events SET kind = 'flown' WHERE stream = ?1 AND seq = 2",
    "kind that is no text": "UPDATE events SET kind = CAST(x'ff' AS TEXT) WHERE stream = ?1 AND seq = 2",
    "newer version": "UPDATE events SET version = 999 WHERE stream = ?1 AND seq = 2",
    "broken chain": "UPDATE events SET hash = 'x' WHERE stream = ?1 AND seq = 2",
    "missing event": "DELETE FROM events WHERE stream = ?1 AND seq = 2",
    "head that was never written": "UPDATE streams SET hash = 'x' WHERE name = ?1",
    "line that is no JSON": "UPDATE streams SET document = '{' WHERE name = ?1",
    "line that is no text": "UPDATE streams SET document = CAST(x'ff' AS TEXT) WHERE name = ?1",
    "line of another type": "UPDATE streams SET document = '[1]' WHERE name = ?1",
    "line with wrong values":
        "UPDATE streams SET document = json_set(document, '$.started_at', 'noon', '$.progress', 1) WHERE name = ?1",
    "line with an endless time": "UPDATE streams SET document = json_set(document, '$.until', 9e300) WHERE name = ?1",
    "no line": "UPDATE streams SET document = NULL, status = NULL, listed = NULL WHERE name = ?1",
    "message that is no JSON": f"{SEND} (?1, 'k', x'7b')",
    "message that is no text": f"{SEND} (?1, 'k', x'ff')",
    "message of an unknown kind": f"{SEND} (?1, 'k', x'7b226b696e64223a22666c79227d')",
    "message whose key is no text": f"{SEND} (?1, CAST(x'ff' AS TEXT), x'7b7d')",
    "timer of an unknown kind": "INSERT INTO timers (stream, key, due) VALUES (?1, 'nope', 1.0)",
    "timer whose key is no text": "INSERT INTO timers (stream, key, due) VALUES (?1, CAST(x'ff' AS TEXT), 1.0)",
    "checkpoint that is none":
        "INSERT INTO checkpoints (stream, seq, reducer, packed, state, seal) VALUES (?1, 2, 9, 1, x'00', 'x')",
    "missing plan": f"DELETE FROM blobs WHERE digest = ({PLAN})",
    "damaged plan":
        f"UPDATE blobs SET data = x'00' WHERE digest = ({PLAN})",
}  # fmt: skip
"""By what is damaged, the statement that does it to the run ?1."""

HARMLESS = frozenset(name for name in SQL if name.startswith(("message", "timer", "checkpoint", "line", "no line")))
"""Damage that does not keep the run itself from going on."""

STRANGERS = {
    "message for nobody": "INSERT INTO inbox (stream, key, payload) VALUES ('ghost-1', 'k', x'7b7d')",
    "message for another kind of stream": "INSERT INTO inbox (stream, key, payload) VALUES ('issue:7', 'k', x'7b7d')",
    "message for no text": "INSERT INTO inbox (stream, key, payload) VALUES (CAST(x'ff' AS TEXT), 'k', x'7b7d')",
    "message for no name": "INSERT INTO inbox (stream, key, payload) VALUES ('', 'k', x'7b7d')",
    "timer of nobody": "INSERT INTO timers (stream, key, due) VALUES ('ghost-1', 'retry', 1.0)",
    "timer of another kind of stream": "INSERT INTO timers (stream, key, due) VALUES ('schedule:x', 'retry', 1.0)",
    "line of another kind of stream":
        "INSERT INTO streams (name, seq, hash, status, listed, document) VALUES ('hook:1', 0, '0', 'running', 1, '{}')",
}  # fmt: skip
"""Rows of streams that are no runs, or of runs that do not exist."""


def _rewritten(state: State, run: str, seq: int, change: Callable[[StoredEvent], StoredEvent]) -> None:
    """Change an event and the chain after it, as a program would that writes what it cannot read."""
    head, events = START, list[StoredEvent]()
    for stored in state.by_stream[run]:
        changed = change(stored) if stored.seq == seq else stored
        head = link(run, head, NewEvent(changed.kind, changed.version, changed.payload))
        events.append(changed._replace(hash=head.hash))
    new = {each.position: each for each in events}
    state.by_stream[run] = events
    state.events = [new.get(each.position, each) for each in state.events]


def _summary(state: State, run: str, **changes: object) -> None:
    row = state.summaries[run]
    state.summaries[run] = Row(row.key, row.position, {**row.document, **changes})  # type: ignore[dict-item]


def _plan_of(state: State, run: str) -> str:
    return str(json.loads(state.by_stream[run][0].payload)["plan"])


MEMORY: dict[str, Callable[[State, str], None]] = {
    "undecodable event": lambda state, run: _rewritten(state, run, 2, lambda each: each._replace(payload=b"{")),
    "event of another shape": lambda state, run: _rewritten(state, run, 2, lambda each: each._replace(payload=b"[1]")),
    "deep event": lambda state, run: _rewritten(
        state, run, 2, lambda each: each._replace(payload=b"[" * 100_000 + b"]" * 100_000)
    ),
    "event that may not follow": lambda state, run: _rewritten(
        state, run, 2, lambda each: each._replace(payload=state.by_stream[run][0].payload)
    ),
    "unknown kind": lambda state, run: _rewritten(
        state, run, 2, lambda each: each._replace(kind="flown", payload=b'{"kind":"flown","at":1.0}')
    ),
    "newer version": lambda state, run: _rewritten(state, run, 2, lambda each: each._replace(version=999)),
    "first event": lambda state, run: _rewritten(state, run, 1, lambda each: each._replace(payload=b"{}")),
    "missing plan": lambda state, run: state.blobs.__setitem__(_plan_of(state, run), None),
    "plan that is none": lambda state, run: state.blobs.__setitem__(_plan_of(state, run), b"[]"),
    "line with wrong values": lambda state, run: _summary(state, run, started_at="noon", progress=7),
    "line without a plan": lambda state, run: _summary(state, run, plan=None, status=None),
    "no line": lambda state, run: state.summaries.__delitem__(run),
    "timer of an unknown kind": lambda state, run: state.timers.__setitem__((run, "nope"), 1.0),
}
"""The same for the log in memory, where the chain holds and only a reader can tell."""


def damage_memory(world: MemoryWorld, name: str, run: str) -> None:
    """Damage a run of a log in memory."""
    state = world._state  # pyright: ignore[reportPrivateUsage]  # behind its back
    MEMORY[name](state, run)
    state.writes += 1
