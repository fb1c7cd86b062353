"""Prepares issues: writes them to a file, with a script that creates them with GitHub's command line."""

import json
import shlex
from pathlib import Path
from typing import Any, cast

from handrail.frozen import frozen
from handrail.model.workflow.values import JsonValue

_TITLES, _BODIES = ("title", "name", "summary", "id", "key"), ("body", "description", "error")


@frozen
class PreparedIssues:
    """Issues that a person can create."""

    output: list[JsonValue]
    summary: str


def prepare_issues(spec: dict[str, Any], folder: Path) -> PreparedIssues:
    """Write the issues to files; doing it again writes the same."""
    labels = [str(label) for label in spec["labels"]]
    issues = [_issue(item, labels) for item in cast("list[JsonValue]", spec["items"])]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file, script = folder / "issues.jsonl", folder / "create-issues.sh"
    file.write_text("".join(json.dumps(issue, ensure_ascii=False) + "\n" for issue in issues), "utf-8")
    script.write_text("set -e\n" + "".join(_call(issue) + "\n" for issue in issues), "utf-8")
    count = f"{len(issues)} issue" + ("" if len(issues) == 1 else "s")
    summary = f"{count} written to {file}, not created; with GitHub's command line: sh {shlex.quote(str(script))}"
    return PreparedIssues(list(issues), summary)


def _issue(item: JsonValue, labels: list[str]) -> dict[str, JsonValue]:
    record: dict[str, JsonValue] = item if isinstance(item, dict) else {"title": item}
    built = record.get("item")
    if isinstance(built, dict) and "status" in record:
        # The result of a fan-out's item: what was to be built, and why it failed.
        record = {**built, "error": record.get("error", "")}
    body = "\n\n".join(_text(record[name]) for name in _BODIES if record.get(name))
    rest = {name: value for name, value in record.items() if name not in (*_TITLES, *_BODIES, "labels") and value}
    more = "".join(f"\n{name}: {_text(value)}" for name, value in rest.items())
    own = record.get("labels")
    listed = [str(each) for each in own] if isinstance(own, list) else []
    return {
        "id": str(record.get("id", "")),
        "number": 0,
        "title": _text(next((record[name] for name in _TITLES if record.get(name)), "")) or "Untitled",
        "body": (body + more).strip(),
        "labels": list(dict.fromkeys([*listed, *labels])),
        "url": "",
        "state": "",
    }


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _call(issue: dict[str, JsonValue]) -> str:
    labels = [word for label in cast("list[str]", issue["labels"]) for word in ("--label", label)]
    return shlex.join(["gh", "issue", "create", "--title", str(issue["title"]), "--body", str(issue["body"]), *labels])
