"""A double of `bd` 1.x: its commands, options, JSON shapes, errors and exit codes, on one JSON file under a lock.

It runs as a program (see `install`), refuses options that bd does not have, and leaves a line in `calls.jsonl` for
each call. `FAKE_BD_VERSION` changes its version, `FAKE_BD_WITHOUT` takes an option away, as an older version would.
"""

import csv
import fcntl
import json
import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn, cast

Data = dict[str, Any]
VALUES: dict[str, tuple[str, ...]] = {
    "version": (),
    "create": (
        *("title", "body-file", "description", "design", "acceptance", "notes", "type", "priority", "labels", "parent"),
        *("metadata", "external-ref", "assignee", "estimate", "defer", "due"),
    ),
    "list": ("limit", "status"),
    "show": (),
    "update": (
        *("title", "body-file", "description", "design", "acceptance", "notes", "type", "priority", "status"),
        *("assignee", "add-label", "remove-label", "set-metadata", "external-ref", "estimate", "defer", "due"),
    ),
    "close": ("reason",),
    "dep": ("type",),
    "comments": ("file",),
    "ready": ("limit", "sort"),
    "blocked": (),
    "export": (),
    "import": (),
}
SWITCHES = {"list": ("all",), "update": ("claim",), "ready": ("unassigned",)}
FIELDS = {
    "title": "title",
    "description": "description",
    "design": "design",
    "acceptance": "acceptance_criteria",
    "notes": "notes",
    "type": "issue_type",
    "status": "status",
    "assignee": "assignee",
    "external-ref": "external_ref",
    "defer": "defer_until",
    "due": "due_at",
}
BUILT_IN = ("open", "in_progress", "blocked", "deferred", "closed", "pinned", "hooked")
BLOCKS = ("blocks", "conditional-blocks", "waits-for")


def fail(message: str, *, to: Any = None) -> NoReturn:
    to = to or sys.stderr
    data: Data = {"error": message}
    to.write(f"{json.dumps(wrap(data))}\n")
    sys.exit(1)


def complain(message: str) -> NoReturn:
    sys.stderr.write(f"{message}\n")
    sys.exit(1)


def wrap(data: Any) -> Any:
    if os.environ.get("BD_JSON_ENVELOPE") == "1":
        return {"schema_version": 1, "data": data}
    return {**cast("Data", data), "schema_version": 1} if isinstance(data, dict) else data


def answer(data: Any) -> None:
    sys.stdout.write(f"{json.dumps(wrap(data), indent=2)}\n")


def parse(argv: list[str]) -> tuple[str, list[str], Data]:
    command = argv[0] if argv else ""
    if command not in VALUES:
        complain(f'Error: unknown command "{command}" for "bd"')
    words: list[str] = []
    options: Data = {}
    for each in argv[1:]:
        if not each.startswith("-") or each == "-":
            words.append(each)
            continue
        name, equals, value = each.removeprefix("--").partition("=")
        known = (*VALUES[command], "actor") if equals else (*SWITCHES.get(command, ()), "json")
        if name not in known or name == os.environ.get("FAKE_BD_WITHOUT"):
            complain(f"Error: unknown flag: --{name}")
        options.setdefault(name, []).append(value if equals else True)
    return command, words, options


class Store:
    """The database: all issues, by id."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "fake.json"
        self.data: Data = json.loads(self.path.read_text()) if self.path.exists() else {"n": 0, "issues": {}}

    @property
    def issues(self) -> dict[str, Data]:
        return self.data["issues"]

    def next(self) -> int:
        self.data["n"] += 1
        return self.data["n"]

    def now(self) -> str:
        return datetime.now(UTC).isoformat().replace("+00:00", "Z")

    def find(self, issue: str) -> Data | None:
        found = [each for name, each in self.issues.items() if issue in (name, name.partition("-")[2])]
        return found[0] if found else None

    def save(self) -> None:
        self.path.write_text(json.dumps(self.data))


@contextmanager
def opened(folder: Path) -> Generator[Store]:
    with (folder / "fake.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        store = Store(folder)
        yield store
        store.save()


def shown(issue: Data, *, bare: bool = True) -> Data:
    """An issue as most commands print it: empty fields left out, comments never in it."""
    hidden = ("comments", *(("dependencies", "labels") if not bare else ()))
    return {name: value for name, value in issue.items() if name not in hidden and value not in (None, "", [], {})} | {
        "priority": issue["priority"]
    }


def counted(store: Store, issue: Data) -> Data:
    needed = sum(
        each["depends_on_id"] == issue["id"] for other in store.issues.values() for each in other["dependencies"]
    )
    parent = [each["depends_on_id"] for each in issue["dependencies"] if each["type"] == "parent-child"]
    counts = {"dependency_count": len(issue["dependencies"]), "dependent_count": needed}
    return {
        **shown(issue),
        **counts,
        "comment_count": len(issue["comments"]),
        **({"parent": parent[0]} if parent else {}),
    }


def labels_of(options: Data, name: str) -> list[str]:
    return [label for each in options.get(name, ()) for label in next(csv.reader([each]))]


def set_fields(store: Store, issue: Data, options: Data) -> None:
    for name, field in FIELDS.items():
        if name in options:
            issue[field] = options[name][-1]
    if "body-file" in options:
        issue["description"] = sys.stdin.buffer.read().decode()
    if "priority" in options:
        issue["priority"] = int(options["priority"][-1].removeprefix("P"))
    if "estimate" in options:
        issue["estimated_minutes"] = int(options["estimate"][-1])
    if issue["status"] not in BUILT_IN:
        fail(f'invalid status "{issue["status"]}" (built-in: {", ".join(BUILT_IN)})', to=sys.stdout)
    issue["closed_at"] = store.now() if issue["status"] == "closed" else None


def create(store: Store, words: list[str], options: Data) -> None:
    title = options["title"][-1] if "title" in options else words[0] if words else ""
    if not title.strip():
        fail("title required")
    parent = options.get("parent", [""])[-1]
    if parent and parent not in store.issues:
        fail(f"parent issue {parent} not found")
    children = sum(each.rpartition(".")[0] == parent for each in store.issues)
    name = f"{parent}.{children + 1}" if parent else f"shop-{store.next():x}a"
    issue: Data = {"id": name, "title": title, "status": "open", "priority": 2, "issue_type": "task"}
    issue |= {"created_at": store.now(), "updated_at": store.now(), "created_by": actor(options)}
    issue |= {"labels": sorted(labels_of(options, "labels")), "dependencies": [], "comments": [], "metadata": {}}
    if parent:
        issue["dependencies"].append({"issue_id": name, "depends_on_id": parent, "type": "parent-child"})
    if "metadata" in options:
        issue["metadata"] = json.loads(options["metadata"][-1])
    set_fields(store, issue, options)
    store.issues[name] = issue
    answer(shown(issue))


def actor(options: Data) -> str:
    found = options.get("actor", [""])[-1] or os.environ.get("BEADS_ACTOR") or os.environ.get("BD_ACTOR")
    return found or "Ann Lee"


def update(store: Store, words: list[str], options: Data) -> None:
    issue = store.find(words[0])
    if issue is None:
        complain(f'Error resolving {words[0]}: no issue found matching "{words[0]}"')
    if "claim" in options:
        claim(store, issue, actor(options))
    set_fields(store, issue, options)
    for each in options.get("set-metadata", ()):
        name, _, value = each.partition("=")
        issue["metadata"][name] = value
    labels = {*issue["labels"], *labels_of(options, "add-label")} - set(labels_of(options, "remove-label"))
    issue["labels"] = sorted(labels)
    issue["updated_at"] = store.now()
    answer([shown(issue, bare=False)])


def claim(store: Store, issue: Data, by: str) -> None:
    holder, status = issue.get("assignee", ""), issue["status"]
    if holder == by and status == "in_progress":
        return
    if holder not in ("", by):
        complain(f"Error claiming {issue['id']}: issue already claimed by {holder}")
    if status != "open":
        complain(f"Error claiming {issue['id']}: issue not claimable: status {status}")
    issue |= {"assignee": by, "status": "in_progress", "started_at": store.now()}


def close(store: Store, words: list[str], options: Data) -> None:
    issue = store.find(words[0])
    if issue is None:
        fail(f"resolving {words[0]}: no issue found", to=sys.stdout)
    if blockers := open_blockers(store, issue):
        complain(f"cannot close {issue['id']}: blocked by open issues {blockers} (use --force to override)")
    issue |= {"status": "closed", "closed_at": store.now(), "updated_at": store.now()}
    issue["close_reason"] = options.get("reason", ["Closed"])[-1]
    answer([shown(issue)])


def show(store: Store, words: list[str], _: Data) -> None:
    issue = store.find(words[0])
    if issue is None:
        fail("no issues found matching the provided IDs", to=sys.stdout)
    found = counted(store, issue)
    found["dependencies"] = [
        {**shown(other, bare=False), "dependency_type": each["type"]}
        for each in issue["dependencies"]
        if (other := store.find(each["depends_on_id"])) is not None
    ]
    answer([found])


def dep(store: Store, words: list[str], options: Data) -> None:
    what, issue, on = words[0], store.find(words[1]), store.find(words[2])
    if issue is None or on is None:
        fail(f"resolving issue ID {words[1]}: no issue found", to=sys.stdout)
    if what == "remove":
        issue["dependencies"] = [each for each in issue["dependencies"] if each["depends_on_id"] != on["id"]]
        answer({"status": "removed", "issue_id": issue["id"], "depends_on_id": on["id"]})
        return
    kind = options.get("type", ["blocks"])[-1]
    if kind in BLOCKS and reaches(store, on["id"], issue["id"]):
        fail("cannot add dependency: would create a cycle", to=sys.stdout)
    link = {"issue_id": issue["id"], "depends_on_id": on["id"], "type": kind, "created_at": store.now()}
    issue["dependencies"].append({**link, "created_by": actor(options)})
    answer({"status": "added", "issue_id": issue["id"], "depends_on_id": on["id"], "type": kind})


def reaches(store: Store, start: str, goal: str) -> bool:
    links = [each["depends_on_id"] for each in store.issues[start]["dependencies"] if each["type"] in BLOCKS]
    return start == goal or any(reaches(store, each, goal) for each in links)


def comments(store: Store, words: list[str], options: Data) -> None:
    adds = words[0] == "add"
    issue = store.find(words[1] if adds else words[0])
    if issue is None:
        fail(f"resolving {words[-1]}: no issue found", to=sys.stdout)
    if not adds:
        answer(issue["comments"])
        return
    text = sys.stdin.buffer.read().decode() if options.get("file") == ["/dev/stdin"] else words[2]
    if not text.strip():
        fail("comment text cannot be empty", to=sys.stdout)
    number = f"0190-{store.next():04x}"
    comment = {"id": number, "issue_id": issue["id"], "author": actor(options), "text": text, "created_at": store.now()}
    issue["comments"].append(comment)
    answer(comment)


def open_blockers(store: Store, issue: Data) -> list[str]:
    targets = [each["depends_on_id"] for each in issue["dependencies"] if each["type"] in BLOCKS]
    return [each for each in targets if store.issues[each]["status"] not in ("closed", "pinned")]


def list_issues(store: Store, _: list[str], options: Data) -> None:
    found = [each for each in store.issues.values() if "all" in options or each["status"] != "closed"]
    limit = int(options.get("limit", ["50"])[-1])
    answer([counted(store, each) for each in found[: limit or None]])


def ready(store: Store, _: list[str], options: Data) -> None:
    found = [each for each in store.issues.values() if each["status"] == "open" and not open_blockers(store, each)]
    found.sort(key=lambda each: each["created_at"], reverse=True)
    found.sort(key=lambda each: each["priority"])
    limit = int(options.get("limit", ["100"])[-1])
    answer([counted(store, each) for each in found[: limit or None]])


def blocked(store: Store, _: list[str], __: Data) -> None:
    rows = [(each, open_blockers(store, each)) for each in store.issues.values() if each["status"] != "closed"]
    answer([{**shown(each), "blocked_by_count": len(by), "blocked_by": by} for each, by in rows if by])


def export(store: Store, _: list[str], __: Data) -> None:
    for each in store.issues.values():
        whole = {**counted(store, each), "comments": each["comments"]}
        filled = {name: value for name, value in whole.items() if value != []}
        sys.stdout.write(f"{json.dumps({'_type': 'issue', **filled})}\n")


def import_lines(store: Store, words: list[str], options: Data) -> None:
    if words != ["-"]:
        fail("only standard input is imported here")
    for line in sys.stdin.buffer.read().splitlines():
        record = json.loads(line)
        name = record.get("id") or f"shop-{store.next():x}a"
        empty: Data = {"id": name, "status": "open", "priority": 2, "labels": [], "dependencies": [], "comments": []}
        empty |= {"metadata": {}, "created_at": store.now(), "updated_at": store.now(), "created_by": actor(options)}
        store.issues[name] = {**empty, **record}
    answer({"created": len(store.issues)})


COMMANDS: dict[str, Callable[[Store, list[str], Data], None]] = {
    "create": create,
    "update": update,
    "close": close,
    "show": show,
    "dep": dep,
    "comments": comments,
    "list": list_issues,
    "ready": ready,
    "blocked": blocked,
    "export": export,
    "import": import_lines,
}


def main(argv: list[str], repository: Path) -> None:
    command, words, options = parse(argv)
    if command == "version":
        answer({"version": os.environ.get("FAKE_BD_VERSION", "1.3.0"), "build": "dev", "branch": "main"})
        return
    folder = repository / ".beads"
    if not folder.is_dir():
        fail("no active beads workspace found")
    with opened(folder) as store:
        with (folder / "calls.jsonl").open("a") as calls:
            calls.write(json.dumps(argv) + "\n")
        COMMANDS[command](store, words, options)


if __name__ == "__main__":
    main(sys.argv[1:], Path.cwd())
