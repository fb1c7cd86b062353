"""Exported runs with other contents: the hashes are computed anew, since they are no signature."""

import base64
import copy
import json
from collections.abc import Callable, Iterator
from typing import Any, cast

from handrail.ports.hash_chain import START, digest_of, link
from handrail.ports.log import NewEvent

Bundle = dict[str, Any]
PLACES = frozenset({"path", "repository", "workspace"})
"""Fields of a history that name folders."""
NAMES = frozenset({"branch", "base", "kept"})
"""Fields that name branches and refs."""
RUNS = frozenset({"run", "child", "parent", "forked_from"})
"""Fields that name runs, beside the source of a copy."""


def forge(bundle: Bundle, change: Callable[[Any], Any]) -> Bundle:
    """Give a bundle whose events, and the states in its blobs, were changed by a function, and whose chain holds."""
    forged = copy.deepcopy(bundle)
    renamed = {digest: _blob(text, change) for digest, text in forged["blobs"].items()}
    forged["blobs"] = dict(renamed.values())
    digests = {old: new for old, (new, _) in renamed.items()}
    for stream in forged["streams"]:
        head = START
        for event in stream["events"]:
            data = change(json.loads(event["payload"]))
            payload = json.dumps(_with_digests(data, digests), separators=(",", ":"))
            head = link(stream["run"], head, NewEvent(event["kind"], event["version"], payload.encode()))
            event.update(payload=payload, hash=head.hash, seq=head.seq)
        stream["head"] = head.hash
    return forged


def rename(bundle: Bundle, old: str, new: str) -> Bundle:
    """Give the same run under another id."""
    text = json.dumps(bundle).replace(f'"{old}', f'"{new}').replace(f'\\"{old}', f'\\"{new}')
    return forge(json.loads(text), lambda data: data)


def with_fields(names: frozenset[str], value: Any) -> Callable[[Any], Any]:
    """Give a change that puts a value into every field of certain names that holds a text."""

    def change(data: Any) -> Any:
        return _mapped(data, lambda key, each: value if key in names and isinstance(each, str) else change(each))

    return change


def leaves(data: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Give the way to every single value in a JSON document."""
    inside = _entries(data)
    for key, each in inside:
        yield from leaves(each, (*at, key))
    if not isinstance(data, dict | list):
        yield at


def with_leaf(data: Any, way: tuple[Any, ...], value: Any) -> Any:
    """Give a document with one value changed."""
    if not way:
        return value
    changed = copy.copy(data)
    changed[way[0]] = with_leaf(data[way[0]], way[1:], value)
    return changed


def _blob(text: str, change: Callable[[Any], Any]) -> tuple[str, str]:
    data = base64.b64decode(text)
    try:
        found = json.loads(data)
    except ValueError:
        return digest_of(data), text
    if isinstance(found, dict) and "steps" in found and "status" in found:
        data = json.dumps(change(found)).encode()
    return digest_of(data), base64.b64encode(data).decode()


def _with_digests(data: Any, digests: dict[str, str]) -> Any:
    if isinstance(data, str):
        return digests.get(data, data)
    return _mapped(data, lambda _, each: _with_digests(each, digests))


def _entries(data: Any) -> list[tuple[Any, Any]]:
    if isinstance(data, dict):
        return list(cast("dict[str, Any]", data).items())
    return list(enumerate(cast("list[Any]", data))) if isinstance(data, list) else []


def _mapped(data: Any, change: Callable[[Any, Any], Any]) -> Any:
    entries = [(key, change(key, each)) for key, each in _entries(data)]
    if isinstance(data, dict):
        return dict(entries)
    return [each for _, each in entries] if isinstance(data, list) else data
