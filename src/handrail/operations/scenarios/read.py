"""Reads the test files of a workflow: scenarios with their positions, checked against the format and the steps."""

import json
import re
from dataclasses import field, replace
from pathlib import Path
from typing import cast

from handrail.authoring.readers.yaml_reader import read_yaml
from handrail.authoring.scripts.parse import Script, check_file, script_of
from handrail.authoring.scripts.turn import FileForm
from handrail.authoring.shapes.conform import conform
from handrail.errors import UsageError
from handrail.frozen import frozen
from handrail.model.codec import decode as decode_model
from handrail.model.diagnostics import Report
from handrail.model.source import Entry, Mapping, Node, Scalar, Sequence, SourceText, Span, plain
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.settings import NO_PROJECT, FileCheck, Project
from handrail.model.workflow.values import JsonValue
from handrail.operations.scenarios.addresses import KnownSteps, addresses_in
from handrail.operations.scenarios.shapes import SCENARIOS
from handrail.operations.workflows.inputs import bind
from handrail.sources.foreign_files import Refusal, decode, read_bytes

DEFAULT_TIMEOUT = 60.0
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@frozen
class Scenario:
    """One test of a workflow, as it is written."""

    name: str
    node: Mapping
    inputs: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    task: str = ""
    files: dict[str, FileForm] = field(default_factory=dict[str, FileForm])
    checks: dict[str, str] = field(default_factory=dict[str, str])
    tools: dict[str, str] = field(default_factory=dict[str, str])
    script: Script | None = None
    timeout: float = DEFAULT_TIMEOUT
    skip: str = ""
    project: Project = NO_PROJECT

    @property
    def expect(self) -> Mapping:
        """The expected outcome."""
        return cast("Mapping", self.node.get("expect"))

    @property
    def file(self) -> str:
        """The file that contains it, as people see it."""
        return self.node.span.source.path

    @property
    def line(self) -> int:
        """The line on which it begins."""
        return line_of(self.node.entries["name"].key.span)

    @property
    def turns(self) -> bytes:
        """What the scripted agent plays."""
        turns = self.node.get("turns")
        nothing = {"default": {"fail": {"status": "api_error", "message": "the test has no turns"}, "repeat": True}}
        return json.dumps(nothing if turns is None else plain(turns)).encode()

    def part(self, name: str) -> Mapping | None:
        """Return a part that is a map, or None."""
        found = self.node.get(name)
        return found if isinstance(found, Mapping) else None


def line_of(span: Span) -> int:
    """Return the line on which a span begins."""
    return span.source.position(span.start).line


def list_items(node: Node) -> tuple[Node, ...]:
    """Return the items of a list, or the single value itself."""
    return node.items if isinstance(node, Sequence) else (node,)


def read_scenarios(path: Path, shown: str, known: KnownSteps, report: Report) -> tuple[Scenario, ...]:
    """Read one test file; errors in it are reported at their position, and then nothing is returned."""
    source = _source(path, shown, report)
    root = None if source is None else read_yaml(source, report)
    if root is None or not conform(SCENARIOS, root, report) or report.failed:
        return ()
    nodes = [node for node in list_items(root) if isinstance(node, Mapping)]
    _require_own_names(nodes, report)
    found = [_scenario(node, known, report) for node in nodes]
    return () if report.failed else tuple(found)


def _source(path: Path, shown: str, report: Report) -> SourceText | None:
    data = read_bytes(path, path.parent)
    text = data if isinstance(data, Refusal) else decode(data)
    if isinstance(text, Refusal):
        at = Span(SourceText(shown, ""), 0, 0)
        report.error("file-unreadable", f"the test file cannot be used: {text}", at)
        return None
    if not re.sub(r"#[^\n]*", "", text).strip():
        hint = "write at least `name: ...` and `expect: {status: succeeded}`; docs/testing-workflows.md lists every key"
        report.error("yaml-syntax", "the test file is empty", Span(SourceText(shown, text), 0, 0), hint)
        return None
    return SourceText(shown, text)


def _require_own_names(nodes: list[Mapping], report: Report) -> None:
    seen: dict[str, int] = {}
    for node in nodes:
        name = node.entries["name"]
        text = str(cast("Scalar", name.value).value)
        if text in seen:
            hint = f"the other is on line {seen[text]}"
            report.error("bad-value", f"two scenarios are called '{text}'", name.value, hint)
        seen.setdefault(text, line_of(name.key.span))


def _scenario(node: Mapping, known: KnownSteps, report: Report) -> Scenario:
    for address, at in addresses_in(node):
        known.check(address, at, report)
    _check_answers(node, known, report)
    data = cast("dict[str, object]", plain(node))
    turns = node.get("turns")
    return Scenario(
        name=str(data["name"]),
        node=node,
        inputs=_inputs(node, known.plan, report),
        task=str(data.get("task", "")),
        files=_files(node, report),
        checks={name: each for name, each in _map(data, "checks").items() if isinstance(each, str)},
        project=_project(data),
        tools=cast("dict[str, str]", data.get("tools", {})),
        script=script_of(turns, report) if isinstance(turns, Mapping) else None,
        timeout=_seconds(str(data["timeout"])) if "timeout" in data else DEFAULT_TIMEOUT,
        skip=_skip(data.get("skip")),
    )


def _map(data: "dict[str, object]", key: str) -> "dict[str, object]":
    return cast("dict[str, object]", data.get(key, {}))


def _project(data: "dict[str, object]") -> Project:
    """Return the project as the test describes it: where its code is, and how single files are checked."""
    maps = [(name, each) for name, each in _map(data, "checks").items() if not isinstance(each, str)]
    found = [decode_model(FileCheck, {"name": name, **cast("dict[str, JsonValue]", each)}) for name, each in maps]
    said = decode_model(Project, {"default_branch": "main", **cast("dict[str, JsonValue]", _map(data, "project"))})
    return replace(said, file_checks=tuple(found))


def _skip(value: object) -> str:
    return value if isinstance(value, str) else "left out" if value else ""


def _seconds(text: str) -> float:
    return sum(int(number) * _UNITS[unit] for number, unit in re.findall(r"(\d+)(ms|s|m|h|d)", text))


def _inputs(node: Mapping, plan: Plan, report: Report) -> dict[str, JsonValue]:
    given, task = node.get("input"), node.get("task")
    pairs = [f"{entry.name}={_format_argument(entry.value)}" for entry in _entries(given)]
    try:
        return bind(plan.inputs, pairs, str(task.value) if isinstance(task, Scalar) else "")
    except UsageError as error:
        at = node.entries.get("input") or node.entries.get("task") or node.entries["name"]
        missing = (error.next_step or "").startswith("add --input")
        hint = re.sub(r" ?--input (\S+?)=", r" \1: ", error.next_step or "").replace("add ", "add under `input:` ")
        report.error("missing-input" if missing else "bad-value", error.message, at, " ".join(hint.split()))
        return {}


def _entries(node: Node | None) -> tuple[Entry, ...]:
    return tuple(node) if isinstance(node, Mapping) else ()


def _format_argument(value: Node) -> str:
    """Format a value as a person would type it on the command line."""
    data = plain(value)
    return data if isinstance(data, str) else json.dumps(data)


def _files(node: Mapping, report: Report) -> dict[str, FileForm]:
    found: dict[str, FileForm] = {}
    for entry in _entries(node.get("files")):
        check_file(entry, report)
        form = plain(entry.value)
        found[entry.name] = {"text": form} if isinstance(form, str) else cast("FileForm", form)
    return found


def _check_answers(node: Mapping, known: KnownSteps, report: Report) -> None:
    """Report texts for an approval that are not an answer to one."""
    for entry in _entries(node.get("answers")):
        for answer in list_items(entry.value):
            word = answer.value if isinstance(answer, Scalar) else None
            if isinstance(word, str) and word not in ("approve", "reject") and known.is_approval(entry.name):
                hint = 'answer an approval with approve, reject or {revise: "what to change"}'
                report.error(
                    "bad-value", f"'{word}' is not a valid answer to the approval '{entry.name}'", answer, hint
                )
