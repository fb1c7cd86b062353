"""Forged histories: an export with anything in it changed, and a chain of hashes that holds all the same."""

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from hypothesis import strategies as st

from handrail.model.history import events as ev
from handrail.ports.hash_chain import digest_of
from support.security.forged_runs import Bundle, forge, leaves, rename, with_leaf

KINDS = tuple(sorted(str(each.kind) for each in get_args(ev.Event)))
STREAM_NAMES = ("issue:7", "schedule:nightly", "../../victim", "", "-x", "other-1.1", "wide-1.1.1", "a b", "x" * 300)


@dataclass(frozen=True, slots=True)
class Forgery:
    """One change of an export; numbers are taken modulo how many there are."""

    what: Literal["field", "blob", "kind", "drop", "double", "swap", "cut", "rename", "lose", "seq", "add"]
    stream: int
    event: int
    leaf: int
    text: str
    value: Any
    """Put where no text stands; a map also where one does."""


def forgeries(texts: Sequence[str]) -> st.SearchStrategy[list[Forgery]]:
    """Some changes of an export; the texts are what an attacker would put into its fields."""
    number = st.integers(0, 400)
    most = st.sampled_from(("field", "field", "field", "blob", "blob"))
    rest = st.sampled_from(("kind", "drop", "double", "swap", "cut", "rename", "lose", "seq", "add"))
    text = st.sampled_from(texts)
    value = st.sampled_from((0, -1, 1, 3, 2**70, 1.5, True, None, [], ["x"], {}, {"x": 1}))
    return st.lists(st.builds(Forgery, st.one_of(most, most, rest), number, number, number, text, value), max_size=4)


def forge_history(bundle: Bundle, changes: Sequence[Forgery]) -> Bundle:
    """Give the export with these changes."""
    forged = json.loads(json.dumps(bundle))
    for each in changes:
        forged = _CHANGES[each.what](forged, each)
    return forged


def _in_events(change: Callable[[list[Any], int, Forgery], None]) -> Callable[[Bundle, Forgery], Bundle]:
    def changed(bundle: Bundle, forgery: Forgery) -> Bundle:
        streams = bundle["streams"]
        if streams:
            events = streams[forgery.stream % len(streams)]["events"]
            if events:
                change(events, forgery.event % len(events), forgery)
        return _chained(bundle)

    return changed


def _chained(bundle: Bundle) -> Bundle:
    return forge(bundle, lambda data: data)


def _field(events: list[Any], at: int, forgery: Forgery) -> None:
    events[at]["payload"] = json.dumps(_with_value(json.loads(events[at]["payload"]), forgery))


def _kind(events: list[Any], at: int, forgery: Forgery) -> None:
    kind = KINDS[forgery.leaf % len(KINDS)]
    events[at]["kind"] = kind
    events[at]["payload"] = json.dumps({**json.loads(events[at]["payload"]), "kind": kind})


def _swap(events: list[Any], at: int, forgery: Forgery) -> None:
    other = forgery.leaf % len(events)
    events[at], events[other] = events[other], events[at]


def _add(events: list[Any], at: int, forgery: Forgery) -> None:
    """Put in an event that gives the run a place: a work tree, or the word of a person."""
    place = forgery.text
    tree = {"repository": place, "path": place, "branch": place, "base": place, "commit": place, "owned": True}
    added: tuple[dict[str, Any], ...] = (
        {"kind": "workspace_ready", "tree": tree, "at": 1.0},
        {"kind": "run_released", "by": "you", "source": None, "tree": tree, "workspace": place, "at": 1.0},
        {"kind": "run_imported", "original": place, "by": "you", "at": 1.0},
        {"kind": "approval_decided", "address": "ok", "decision": "approve", "by": "you", "at": 1.0},
    )
    chosen = added[forgery.leaf % len(added)]
    events.insert(at + 1, {**events[at], "kind": chosen["kind"], "payload": json.dumps(chosen)})


def _blob(bundle: Bundle, forgery: Forgery) -> Bundle:
    documents = [digest for digest, text in bundle["blobs"].items() if _document(text) is not None]
    if not documents:
        return bundle
    old = documents[forgery.event % len(documents)]
    data = json.dumps(_with_value(_document(bundle["blobs"][old]), forgery)).encode()
    del bundle["blobs"][old]
    bundle["blobs"][digest_of(data)] = base64.b64encode(data).decode()
    return _chained(json.loads(json.dumps(bundle).replace(old, digest_of(data))))


def _document(text: str) -> Any:
    try:
        return json.loads(base64.b64decode(text))
    except ValueError:
        return None


def _with_value(data: Any, forgery: Forgery) -> Any:
    ways = list(leaves(data))
    if not ways:
        return data
    way = ways[forgery.leaf % len(ways)]
    value = forgery.value
    is_text = isinstance(_at(data, way), str) and not isinstance(value, dict)
    return with_leaf(data, way, forgery.text if is_text else value)


def _at(data: Any, way: tuple[Any, ...]) -> Any:
    for key in way:
        data = data[key]
    return data


def _rename(bundle: Bundle, forgery: Forgery) -> Bundle:
    new = str(STREAM_NAMES[forgery.leaf % len(STREAM_NAMES)])
    if forgery.event % 2:
        return rename(bundle, bundle["run"], new)
    bundle["streams"][forgery.stream % len(bundle["streams"])]["run"] = new
    return _chained(bundle)


def _lose(bundle: Bundle, forgery: Forgery) -> Bundle:
    """Lose a content, or give it the name of another."""
    names = list(bundle["blobs"])
    if names:
        lost = bundle["blobs"].pop(names[forgery.event % len(names)])
        if forgery.leaf % 2:
            bundle["blobs"][forgery.text] = lost
    return bundle


def _seq(bundle: Bundle, forgery: Forgery) -> Bundle:
    events = bundle["streams"][forgery.stream % len(bundle["streams"])]["events"]
    if events:
        events[forgery.event % len(events)]["seq"] = forgery.value
    return bundle


_CHANGES: dict[str, Callable[[Bundle, Forgery], Bundle]] = {
    "field": _in_events(_field),
    "blob": _blob,
    "kind": _in_events(_kind),
    "drop": _in_events(lambda events, at, _: events.pop(at)),
    "double": _in_events(lambda events, at, _: events.insert(at, dict(events[at]))),
    "swap": _in_events(_swap),
    "cut": _in_events(lambda events, at, _: events.__delitem__(slice(at + 1, None))),
    "rename": _rename,
    "lose": _lose,
    "seq": _seq,
    "add": _in_events(_add),
}
