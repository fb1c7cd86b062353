"""A run as one file: its events with their hashes, its children, and the blobs they name.

A file proves only that it is complete: its hashes are not a signature. So an import is a history to be read and, once
a person has released it, to be continued. Ids, folders, branches, refs, conversations and processes that it names are
somebody else's: no run of this log, no folder and no process here is ever found by them.
"""

import base64
import json
import re
from binascii import Error as BadBase64
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, cast

from handrail.engine.fold.apply import apply
from handrail.engine.fold.step_tools import run_started_by
from handrail.errors import HandrailError, NotFound, UsageError, VersionConflict
from handrail.frozen import frozen
from handrail.model.codec import CodecError, decode
from handrail.model.history.events import (
    ChildEnded,
    ChildStarted,
    Event,
    ItemStarted,
    RunEnded,
    RunForked,
    RunImported,
    RunStarted,
    ToolCalled,
)
from handrail.model.history.named_blobs import blobs_named_by
from handrail.model.history.run_lines import is_run
from handrail.model.history.run_state import RunState
from handrail.model.workflow.plan import Plan
from handrail.operations.runs.lifecycle import next_number
from handrail.operations.views.run_tree import family
from handrail.ports.delivery import Delivery
from handrail.ports.hash_chain import START, digest_of, link
from handrail.ports.log import Append, Head, Log, StoredEvent, TimerSet
from handrail.runtime.event_records import decode_event, encode_event
from handrail.runtime.history import decode_pinned_plans, readable_events, state_of
from handrail.runtime.run_summary import summary_of

FORMAT = "handrail-run"
VERSION = 1
ELSEWHERE = " of another log"
"""Follows the id of the run that an import was forked from: no run of this log has such a name."""
INSIDE = re.compile(r"(\.[A-Za-z0-9_-]+)+", re.ASCII)
"""What follows the id of the parent run in the id of a run that is named after it."""
_INNER = re.compile(rf"run({INSIDE.pattern})?", re.ASCII)
_NEXT = re.compile(r"\.[0-9]+", re.ASCII)
"""What follows the id of the parent run in the id of a child that never began."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,150}", re.ASCII)


@frozen(kw_only=True)
class ImportContext:
    """Who imports a run, when, and which ids are in use here although the log has no run of that name."""

    by: str
    at: float
    is_taken: Callable[[str], bool]


@frozen
class RunImportResult:
    """The imported run: its id here, its original id, and the number of events."""

    run: str
    original: str
    events: int
    held: bool


def export(log: Log, run: str) -> dict[str, Any]:
    """Return a run, its children and everything they name as JSON data; of a damaged run, what can be read."""
    found = {each: events for each in family(log, run) or (run,) if (events := readable_events(log, each))}
    if run not in found:
        state_of(log, run)
    streams = [_stream(each, events) for each, events in found.items()]
    digests = {digest for events in found.values() for digest in _find_named_blobs(log, events)}
    blobs = {digest: base64.b64encode(log.get_blob(digest)).decode() for digest in sorted(digests)}
    return {"format": FORMAT, "version": VERSION, "run": run, "streams": streams, "blobs": blobs}


def import_run(log: Log, data: bytes, arrival: ImportContext) -> RunImportResult:
    """Import an exported run; refuse it as a whole if anything in it is not as it was written.

    It is held, so that its commands do not run before its new owner agrees, and owns nothing outside the log.
    """
    bundle = _bundle(data)
    blobs = _blobs(bundle)
    streams = list(_streams(bundle))
    histories = {each: _history(each, stream) for each, stream in streams}
    if len(histories) < len(streams):
        _refuse("it contains two histories of the same run")
    root = str(bundle["run"])
    if not is_run(root):
        _refuse(f"{root!r} is not a valid run id")
    parents = _require_family(root, histories)
    states = {name: _fold_or_refuse(name, events, blobs) for name, events in histories.items()}
    taken_over = _find_continued_runs(root, states)
    while True:
        here = _free_id(log, root, states[root].workflow, arrival)
        appends = [
            _append(
                _make_local_run_id(name, root, here),
                (
                    *(_rewrite_run_ids(event, root, here, depth) for event in events),
                    *_arrival(name, states, arrival, taken_over),
                ),
                blobs,
            )
            for name, events in histories.items()
            for depth in (len(_list_ancestors(root, name, parents)),)
        ]
        kept = appends[0]._replace(blobs=tuple(blobs.values()))
        try:
            log.append([kept, *appends[1:]], [])
        except VersionConflict:
            continue
        return RunImportResult(here, root, sum(map(len, histories.values())), not states[root].is_over)


def _require_family(root: str, histories: Mapping[str, list[Event]]) -> dict[str, str]:
    """Refuse histories that belong to other runs than they claim; return the parent of each run."""
    if root not in histories:
        _refuse(f"it does not contain the history of {root!r}")
    parents = {name: _parent(events[0]) for name, events in histories.items()}
    known = set(histories)
    for name, events in histories.items():
        first = events[0]
        if not isinstance(first, RunStarted | RunForked) or first.run != name:
            _refuse(f"the history of {name} belongs to another run")
        if name != root and root not in _list_ancestors(root, name, parents):
            _refuse(f"{name} was not started by a run in the file")
        children = [child for event in events if (child := _child(event))]
        known.update(children)
        strangers = [child for child in children if not _is_own(name, child, parents)]
        if strangers:
            _refuse(f"{name} refers to a run that it did not start, {strangers[0]!r}")
    _require_names(root, known)
    return parents


def _require_names(root: str, known: set[str]) -> None:
    """Refuse ids that would be invalid here, or the same for two runs."""
    here = {name: _make_local_run_id(name, root, "run") for name in known}
    bad = [name for name, id_here in here.items() if not _NAME.fullmatch(id_here) or not _INNER.fullmatch(id_here)]
    if bad:
        _refuse(f"{bad[0]!r} is not a valid run id")
    if len(set(here.values())) < len(here):
        _refuse("two of its runs would have the same id here")


def _parent(first: Event) -> str:
    return first.parent.run if isinstance(first, RunStarted) and first.parent is not None else ""


def _list_ancestors(root: str, name: str, parents: Mapping[str, str]) -> list[str]:
    """List the ancestors of a run up to the first one of the file, as the histories name them."""
    found: list[str] = []
    while name != root and name in parents and len(found) < len(parents):
        name = parents[name]
        found.append(name)
    return found


def _is_own(name: str, child: str, parents: Mapping[str, str]) -> bool:
    """Whether a run may name a child: the child's own history says so, or it never began and is named after the run."""
    if child in parents:
        return parents[child] == name
    return child.startswith(name) and _NEXT.fullmatch(child.removeprefix(name)) is not None


def _child(event: Event) -> str:
    return event.child if isinstance(event, ChildStarted | ItemStarted | ChildEnded) else run_started_by(event)


def _find_continued_runs(root: str, states: Mapping[str, RunState]) -> frozenset[str]:
    """List the runs that continue here: the first one, and the called workflows in which it currently is."""
    found = {root}
    at = states[root]
    while at.pending is not None and at.pending.kind == "child" and at.pending.child in states:
        at = states[at.pending.child]
        found.add(at.run)
    return frozenset(found)


def _arrival(
    name: str, states: Mapping[str, RunState], arrival: ImportContext, taken_over: frozenset[str]
) -> tuple[Event, ...]:
    """Return the events that follow the history of a run here; items that were in progress start over in other runs."""
    imported = RunImported(original=name, by=arrival.by, at=arrival.at)
    if name in taken_over or states[name].status in ("succeeded", "failed", "cancelled"):
        return (imported,)
    message = "it was in progress where its run was exported"
    return (imported, RunEnded(status="cancelled", by=arrival.by, message=message, at=arrival.at))


def _free_id(log: Log, root: str, workflow: str, arrival: ImportContext) -> str:
    """Choose the id of a run here: its own, unless that or an id derived from it is taken."""
    # An id that ends in a dot and a number would look like that of a child run.
    here = root if _NAME.fullmatch(root) and not re.search(r"\.[0-9]+$", root, re.ASCII) else ""
    name = workflow if _NAME.fullmatch(workflow) else "imported"
    number = next_number(log, name)
    while not here or _is_known(log, here) or arrival.is_taken(here):
        here, number = f"{name}-{number}", number + 1
    return here


def _is_known(log: Log, run: str) -> bool:
    # Also those that have lost their row in lists.
    return log.last(run).seq > 0 or any(each.startswith(f"{run}.") for each in log.streams())


def ids_in_use(folder: Path, workspaces: Delivery) -> Callable[[str], bool]:
    """Return a test for whether a data folder holds files of a run, even of one that its log no longer knows."""
    return lambda run: (folder / "runs" / run).exists() or bool(workspaces.repositories_of(run))


def _stream(run: str, stored: tuple[StoredEvent, ...]) -> dict[str, Any]:
    events = [
        {
            "seq": each.seq,
            "kind": each.kind,
            "version": each.version,
            "payload": each.payload.decode(),
            "hash": each.hash,
        }
        for each in stored
    ]
    return {"run": run, "events": events, "head": stored[-1].hash}


def _find_named_blobs(log: Log, stored: tuple[StoredEvent, ...]) -> Iterator[str]:
    """List the blobs that the events of a run name, and those that its state named after any of them."""
    state: RunState | None = None
    for each in stored:
        event = decode_event(each)
        state = apply(state, event, each.seq, log.get_blob)
        yield from blobs_named_by(event)
        yield from blobs_named_by(state)


def _refuse(why: str) -> NoReturn:
    raise UsageError(f"the file is not a valid export: {why}", next_step="export the run again: handrail export RUN")


def _bundle(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        _refuse(f"it is not JSON ({error})")
    shape = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    if shape.get("format") != FORMAT:
        _refuse("it was not written by handrail export")
    if shape.get("version") != VERSION:
        _refuse(f"its version is {shape.get('version')!r}, but this version of Handrail reads {VERSION}")
    return shape


def _blobs(bundle: Mapping[str, Any]) -> dict[str, bytes]:
    blobs: dict[str, bytes] = {}
    try:
        for digest, text in bundle["blobs"].items():
            blobs[digest] = base64.b64decode(text, validate=True)
            if digest_of(blobs[digest]) != digest:
                _refuse(f"blob {digest[:12]} is damaged")
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
            head = _verify_link(name, head, stored)
            events.append(decode_event(stored))
        whole = stream["head"] == head.hash and head.seq > 0
    except (KeyError, TypeError, AttributeError, UnicodeError, CodecError, json.JSONDecodeError) as error:
        _refuse(f"event {head.seq + 1} of {name} cannot be read ({error})")
    if not whole:
        _refuse(f"the end of {name} is missing, after event {head.seq}")
    return events


def _verify_link(name: str, head: Head, stored: StoredEvent) -> Head:
    after = link(name, head, stored)
    if (after.seq, after.hash) != (stored.seq, stored.hash):
        _refuse(f"event {after.seq} of {name} is damaged")
    return after


def _fold_or_refuse(name: str, events: Iterable[Event], blobs: Mapping[str, bytes]) -> RunState:
    try:
        return _state(events, blobs)
    except HandrailError as error:
        _refuse(f"the history of {name} is inconsistent: {error.message}")
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError) as error:
        # Each event can be decoded on its own; what they say of one another, or a state in a blob, may be impossible.
        _refuse(f"the history of {name} is inconsistent ({type(error).__name__}: {error})")


def _state(events: Iterable[Event], blobs: Mapping[str, bytes]) -> RunState:
    """Fold events with the blobs of the file alone: a blob that only this log has is not part of it."""

    def blob(digest: str) -> bytes:
        if digest not in blobs:
            raise NotFound(f"blob {digest[:12]} is missing")
        return blobs[digest]

    state: RunState | None = None
    for number, event in enumerate(events, 1):
        state = apply(state, event, number, blob)
        for digest in blobs_named_by(event) | blobs_named_by(state):
            blob(digest)
    if state is None:
        raise NotFound("there are no events")
    decode(Plan, json.loads(blob(state.plan)))
    if state.calls:
        decode_pinned_plans(blob(state.calls))
    return state


def _make_local_run_id(name: str, root: str, here: str) -> str:
    """Return the id of a run of the file here: it begins with that of the first run."""
    inside = name.removeprefix(root)
    named_after = name == root or (name.startswith(root) and INSIDE.fullmatch(inside) is not None)
    return f"{here}{inside}" if named_after else f"{here}.{name}"


def _rewrite_run_ids(event: Event, root: str, here: str, depth: int) -> Event:
    """Return the same event in a run of another id."""
    match event:
        case RunStarted():
            parent = None if event.run == root else event.parent
            moved = None if parent is None else replace(parent, run=_make_local_run_id(parent.run, root, here))
            kin = {"root": "", "generation": 0} if moved is None else {"root": here, "generation": depth}
            return replace(event, run=_make_local_run_id(event.run, root, here), parent=moved, **kin)
        case RunForked():
            source = event.source if event.source.endswith(ELSEWHERE) else f"{event.source}{ELSEWHERE}"
            return replace(event, run=_make_local_run_id(event.run, root, here), source=source)
        case ChildStarted() | ItemStarted() | ChildEnded():
            return replace(event, child=_make_local_run_id(event.child, root, here))
        case ToolCalled(result=dict(result)) if run_started_by(event):
            return replace(event, result={**result, "run": _make_local_run_id(run_started_by(event), root, here)})
        case _:
            return event


def _append(name: str, events: tuple[Event, ...], blobs: Mapping[str, bytes]) -> Append:
    state = _fold_or_refuse(name, events, blobs)
    timers = () if state.until is None else (TimerSet("retry" if state.reason == "timer" else "approval", state.until),)
    return Append(name, 0, tuple(map(encode_event, events)), timers=timers, summary=summary_of(state))
