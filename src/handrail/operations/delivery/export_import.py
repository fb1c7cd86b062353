"""A run as one file: its events with their hashes, its children, and the blobs they name."""

import base64
import json
from binascii import Error as BadBase64
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NoReturn, cast

from handrail.engine.fold.apply import apply
from handrail.engine.fold.step_tools import started_by
from handrail.errors import HandrailError, NotFound, UsageError, VersionConflict
from handrail.frozen import frozen
from handrail.model.codec import CodecError
from handrail.model.history.events import (
    ChildEnded,
    ChildStarted,
    Event,
    ItemStarted,
    RunForked,
    RunStarted,
    RunTaken,
    ToolCalled,
)
from handrail.model.history.named_blobs import blobs_named_by
from handrail.model.history.run_state import RunState
from handrail.operations.runs.lifecycle import next_number
from handrail.operations.views.run_tree import belongs_to, family
from handrail.ports.hash_chain import START, digest_of, link
from handrail.ports.log import Append, Head, Log, StoredEvent, TimerSet
from handrail.runtime.event_records import from_log, to_log
from handrail.runtime.history import events_of
from handrail.runtime.run_summary import summary_of

FORMAT = "handrail-run"
VERSION = 1


@frozen
class Imported:
    """What came in: the id it has here, and how many events."""

    run: str
    original: str
    events: int
    held: bool


def export(log: Log, run: str) -> dict[str, Any]:
    """Give a run, its children and everything they name as JSON data."""
    streams = [_stream(log, each) for each in family(log, run)]
    digests = {digest for each in family(log, run) for digest in _named(log, each)}
    blobs = {digest: base64.b64encode(log.get_blob(digest)).decode() for digest in sorted(digests)}
    return {"format": FORMAT, "version": VERSION, "run": run, "streams": streams, "blobs": blobs}


def import_run(log: Log, data: bytes, by: str, now: float) -> Imported:
    """Take in an exported run; refused as a whole when anything in it is not as it was written.

    A run that is not over is held, so that its commands do not run before its new owner says so.
    """
    bundle = _bundle(data)
    blobs = _blobs(bundle)
    histories = {each: _history(each, stream) for each, stream in _streams(bundle)}
    root = str(bundle["run"])
    if root not in histories or not all(map(belongs_to(root), histories)):
        _refuse(f"it does not hold the history of {root!r}" if root not in histories else "it holds strangers' runs")
    states = {name: _folded(name, events, blobs) for name, events in histories.items()}
    held = not states[root].over
    while True:
        here = root if log.last(root).seq == 0 else f"{states[root].workflow}-{next_number(log, states[root].workflow)}"
        appends = [
            _append(_renamed(name, root, here), [_moved(event, root, here) for event in events], blobs, (by, now))
            for name, events in histories.items()
        ]
        kept = appends[0]._replace(blobs=tuple(blobs.values()))
        try:
            log.append([kept, *appends[1:]], [])
        except VersionConflict:
            continue
        return Imported(here, root, sum(map(len, histories.values())), held)


def _stream(log: Log, run: str) -> dict[str, Any]:
    events = [
        {
            "seq": each.seq,
            "kind": each.kind,
            "version": each.version,
            "payload": each.payload.decode(),
            "hash": each.hash,
        }
        for each in log.read(run)
    ]
    return {"run": run, "events": events, "head": log.last(run).hash}


def _named(log: Log, run: str) -> Iterator[str]:
    """The blobs that the events of a run name, and those that its state named after any of them."""
    state: RunState | None = None
    for seq, event in events_of(log, run):
        state = apply(state, event, seq, log.get_blob)
        yield from blobs_named_by(event)
        yield from blobs_named_by(state)


def _refuse(why: str) -> NoReturn:
    raise UsageError(f"the file is no sound bundle: {why}", next_step="export the run again: handrail export RUN")


def _bundle(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        _refuse(f"it is not JSON ({error})")
    shape = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    if shape.get("format") != FORMAT:
        _refuse("it was not written by handrail export")
    if shape.get("version") != VERSION:
        _refuse(f"its version is {shape.get('version')!r}, this Handrail reads {VERSION}")
    return shape


def _blobs(bundle: Mapping[str, Any]) -> dict[str, bytes]:
    blobs: dict[str, bytes] = {}
    try:
        for digest, text in bundle["blobs"].items():
            blobs[digest] = base64.b64decode(text, validate=True)
            if digest_of(blobs[digest]) != digest:
                _refuse(f"blob {digest[:12]} is not what was written")
    except (BadBase64, KeyError, AttributeError, TypeError, ValueError) as error:
        _refuse(f"its blobs cannot be read ({error})")
    return blobs


def _streams(bundle: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        yield from [(str(each["run"]), each) for each in bundle["streams"]]
    except (KeyError, TypeError) as error:
        _refuse(f"its histories cannot be read ({error})")


def _history(name: str, stream: Mapping[str, Any]) -> list[Event]:
    head, events = START, list[Event]()
    try:
        for each in stream["events"]:
            stored = StoredEvent(
                name, each["seq"], 0, each["kind"], each["version"], each["payload"].encode(), each["hash"]
            )
            head = _linked(name, head, stored)
            events.append(from_log(stored))
        whole = stream["head"] == head.hash and head.seq > 0
    except (KeyError, TypeError, AttributeError, UnicodeError, CodecError, json.JSONDecodeError) as error:
        _refuse(f"event {head.seq + 1} of {name} cannot be read ({error})")
    if not whole:
        _refuse(f"the end of {name} is missing, after event {head.seq}")
    return events


def _linked(name: str, head: Head, stored: StoredEvent) -> Head:
    after = link(name, head, stored)
    if (after.seq, after.hash) != (stored.seq, stored.hash):
        _refuse(f"event {after.seq} of {name} is not what was written")
    return after


def _folded(name: str, events: list[Event], blobs: Mapping[str, bytes]) -> RunState:
    def blob(digest: str) -> bytes:
        if digest not in blobs:
            raise NotFound(f"blob {digest[:12]} is missing")
        return blobs[digest]

    state: RunState | None = None
    try:
        for number, event in enumerate(events, 1):
            state = apply(state, event, number, blob)
        if state is None:
            _refuse(f"{name} has no events")
        blob(state.plan)
    except HandrailError as error:
        if isinstance(error, UsageError) and not isinstance(error, NotFound):
            raise
        _refuse(f"the history of {name} does not hold together: {error.message}")
    return state


def _renamed(name: str, root: str, here: str) -> str:
    return here + name.removeprefix(root) if belongs_to(root)(name) else name


def _moved(event: Event, root: str, here: str) -> Event:
    """The same event in a run of another id."""
    match event:
        case RunStarted():
            parent = event.parent
            moved = None if parent is None else replace(parent, run=_renamed(parent.run, root, here))
            return replace(event, run=_renamed(event.run, root, here), parent=moved)
        case RunForked():
            return replace(event, run=_renamed(event.run, root, here))
        case ChildStarted() | ItemStarted() | ChildEnded():
            return replace(event, child=_renamed(event.child, root, here))
        case ToolCalled(result=dict(result)) if started_by(event):
            return replace(event, result={**result, "run": _renamed(started_by(event), root, here)})
        case _:
            return event


def _append(name: str, events: list[Event], blobs: Mapping[str, bytes], owner: tuple[str, float]) -> Append:
    state = _folded(name, events, blobs)
    if not state.over:
        events = [*events, RunTaken(by=f"import ({owner[0]})", at=owner[1])]
        state = _folded(name, events, blobs)
    timers = () if state.until is None else (TimerSet("retry" if state.reason == "timer" else "approval", state.until),)
    return Append(name, 0, tuple(map(to_log, events)), timers=timers, summary=summary_of(state))
