"""Reads the issues that a step is to create from its list: tasks of a plan or a spec, or failed items of a fan-out."""

import json
from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256
from typing import Any, cast

from handrail.engine.text.host_text import clean_host_text, clean_title
from handrail.frozen import frozen
from handrail.model.workflow.values import JsonValue

MAX_DRAFTS = 200
"""The most issues that one step creates."""
_TITLES, _BODIES = ("title", "name", "summary", "id", "key"), ("body", "description", "error")
_LINKS = ("depends_on", "after", "blocked_by")
_PRIORITIES = range(5)


@frozen(kw_only=True)
class ListedIssue:
    """An issue to be created."""

    key: str
    """Distinguishes it from all others of the list, also when the step is performed again."""
    name: str
    """What the list calls it; empty if it has no name."""
    title: str
    body: str
    labels: tuple[str, ...]
    after: tuple[str, ...] = ()
    """Keys of issues of the same list that it depends on."""
    parent: str = ""
    """The key of the issue of the same list that it is a part of."""
    within: str = ""
    """The id of an issue that exists already, of which it is to be a part."""
    priority: int = 2
    kind: str = "task"


def read_drafts(spec: dict[str, Any]) -> list[ListedIssue]:
    """Return the issues of a step in an order in which each can be created; a `ValueError` says what is wrong."""
    labels = tuple(str(label) for label in spec["labels"])
    records = [_record(item) for item in cast("list[JsonValue]", spec["items"])]
    if len(records) > MAX_DRAFTS:
        raise ValueError(f"the list has {len(records)} issues; one step creates at most {MAX_DRAFTS}")
    keys: dict[str, str] = {}
    for number, record in enumerate(records, start=1):
        name = _name(record)
        if name and name not in keys:
            keys[name] = _key(number, record)
    drafts = [_draft(number, record, labels, keys) for number, record in enumerate(records, start=1)]
    return _sort(drafts)


def _record(item: JsonValue) -> dict[str, JsonValue]:
    record: dict[str, JsonValue] = item if isinstance(item, dict) else {"title": item}
    built = record.get("item")
    if isinstance(built, dict) and "status" in record:
        # The result of a fan-out's item: what was to be built, and why it failed.
        return {**built, "error": record.get("error", "")}
    return record


def _name(record: dict[str, JsonValue]) -> str:
    return _text(record.get("id") or record.get("key") or "")


def _key(number: int, record: dict[str, JsonValue]) -> str:
    """Identify an issue by its name in the list, else by its place and title: the same list has the same keys."""
    name = _name(record) or f"{number}:{_title(record)}"
    return sha256(name.encode(errors="replace")).hexdigest()[:16]


def _title(record: dict[str, JsonValue]) -> str:
    found = _text(next((record[name] for name in _TITLES if record.get(name)), ""))
    return clean_title(found) or "Untitled"


def _draft(number: int, record: dict[str, JsonValue], labels: tuple[str, ...], keys: dict[str, str]) -> ListedIssue:
    own, key, parent = record.get("labels"), _key(number, record), _text(record.get("parent") or "")
    wanted = [each for name in _LINKS for each in _names(record.get(name))]
    after = [keys[each] for each in wanted if keys.get(each, key) != key]
    priority, kind = record.get("priority"), record.get("type") or record.get("issue_type")
    return ListedIssue(
        key=key,
        name=_name(record),
        title=_title(record),
        body=_body(record, [each for each in wanted if each not in keys]),
        labels=tuple(dict.fromkeys((*_names(own), *labels))),
        after=tuple(dict.fromkeys(after)),
        parent=keys.get(parent, "") if keys.get(parent, key) != key else "",
        within="" if parent in keys else parent,
        priority=priority if isinstance(priority, int) and priority in _PRIORITIES else 2,
        kind=kind if isinstance(kind, str) and kind.isidentifier() else "task",
    )


def _body(record: dict[str, JsonValue], unknown: Sequence[str]) -> str:
    used = {*_TITLES, *_BODIES, *_LINKS, "labels", "parent", "priority", "type", "issue_type"}
    parts = "\n\n".join(_text(record[name]) for name in _BODIES if record.get(name))
    rest = {name: value for name, value in record.items() if name not in used and value}
    more = "".join(f"\n{name}: {_text(value)}" for name, value in rest.items())
    # What is not in the list cannot become a dependency, but a reader should know of it.
    more += f"\ndepends_on: {', '.join(unknown)}" if unknown else ""
    return clean_host_text((parts + more).strip())


def _names(value: JsonValue) -> list[str]:
    listed = value if isinstance(value, list) else [] if value is None else [value]
    return [_text(each) for each in listed if each]


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _sort(drafts: list[ListedIssue]) -> list[ListedIssue]:
    """Put each issue after those that it is a part of or depends on, and otherwise leave the order."""
    known = {each.key: each for each in drafts}
    if len(known) < len(drafts):
        names = [each.name for each in drafts]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two issues of the list have the same id: '{twice[:100]}'")
    graph = {each.key: [*([each.parent] if each.parent else []), *each.after] for each in drafts}
    try:
        return [known[key] for key in TopologicalSorter(graph).static_order()]
    except CycleError as error:
        circle = " -> ".join(known[key].name or known[key].title for key in error.args[1])
        raise ValueError(f"circular dependency between issues of the list: {circle[:200]}") from error
