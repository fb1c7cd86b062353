"""Turns a trusted `workflow.py` into a Document, with the prompt versions that its `resolve` chose."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from handrail.model.diagnostics import Report
from handrail.model.source import Bundle, Document, Mapping, Node, Scalar, Sequence, SourceText, Span
from handrail.sources.foreign_files import Refusal, decode, printable
from handrail.sources.python.loader import DynamicFile, PythonFault, load_python
from handrail.sources.workflow_snapshot import VERSIONS, Snapshot

if TYPE_CHECKING:
    from handrail.authoring.python.objects import ResolveContext

MAX_PATH_LENGTH = 500


def evaluate(
    snapshot: Snapshot, bundle: Bundle, context: "ResolveContext | None", shown: Callable[[Path], str], report: Report
) -> Document | None:
    """Run the bytes of the snapshot and read what they return; only for trusted content."""
    from handrail.authoring.python.objects import ResolveContext, build_document  # noqa: PLC0415 (few workflows are Python)

    try:
        made = load_python(snapshot.main, snapshot.files[snapshot.main.name], context or ResolveContext())
    except PythonFault as fault:
        start = bundle.source.offset(fault.line, fault.column)
        end = bundle.source.offset(fault.line, len(bundle.source.line(fault.line)) + 1)
        report.error("python-error", fault.message, Span(bundle.source, start, max(start, end)), fault.hint)
        return None
    if isinstance(made, DynamicFile):
        _take(bundle, {path for path in snapshot.files if _is_version(path)}, snapshot, shown)
        document = build_document(_head(made, snapshot), bundle, report)
        return None if document is None else replace(document, dynamic=True)
    document = build_document(made, bundle, report)
    if document is not None:
        _take(document.bundle, {text for text in _texts(document.root) if _is_version(text)}, snapshot, shown)
    return document


def _head(made: DynamicFile, snapshot: Snapshot) -> dict[str, object]:
    """Build what a dynamic flow has in common with other workflows: its name, which is where it is, and its inputs."""
    main = snapshot.main
    name = snapshot.folder.name if main.name == "workflow.py" else main.stem
    head: dict[str, object] = {"name": name, "description": made.description}
    said = {"input": made.inputs, "budget": made.budget}
    return {**head, **{key: value for key, value in said.items() if value is not None}}


def _take(bundle: Bundle, paths: set[str], snapshot: Snapshot, shown: Callable[[Path], str]) -> None:
    for path in paths & set(snapshot.files):
        text = decode(snapshot.files[path])
        if isinstance(text, Refusal):
            bundle.refused[path] = str(text)
        else:
            bundle.files[path] = SourceText(printable(shown(snapshot.folder / path)), text)


def _texts(node: Node) -> Iterator[str]:
    match node:
        case Scalar():
            if isinstance(node.value, str):
                yield node.value
        case Sequence():
            for item in node:
                yield from _texts(item)
        case Mapping():
            for entry in node:
                yield from _texts(entry.value)


def _is_version(text: str) -> bool:
    if len(text) > MAX_PATH_LENGTH or not text.endswith(".md") or "\n" in text:
        return False
    return PurePosixPath(text).parts[0] == VERSIONS
