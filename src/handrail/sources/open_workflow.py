"""Opens a workflow that was found: reads its files into a Document, or reports at which line it cannot be used."""

import shlex
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.authoring.read import read_bundle
from handrail.errors import HandrailError
from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.model.source import Bundle, Document, Scalar, SourceText, Span
from handrail.sources.config.config import bindings_in
from handrail.sources.foreign_files import OUTSIDE, TOO_LARGE, FileContent, Refusal, decode, read_bytes, real
from handrail.sources.tiers import Location, Tier, WorkflowFile, discover, origin_of, resolve_name, visible_to
from handrail.sources.workflow_snapshot import COMPANION_FOLDERS, Snapshot, take

if TYPE_CHECKING:
    from handrail.authoring.python.objects import ResolveContext
    from handrail.compiler.catalog import Catalog, Obstacle

UNTRUSTED = "not trusted"
REASONS = {TOO_LARGE: "file-too-large", OUTSIDE: "path-escape"}


@frozen
class OpenedWorkflow:
    """A workflow as it was read; without a document where nothing usable was found, which is then reported."""

    found: WorkflowFile
    bundle: Bundle | None
    document: Document | None
    report: Report
    note: str | None = None
    """What a person should know besides the diagnostics."""
    snapshot: Snapshot | None = None
    """The very bytes that were read, for questions of trust."""


def open_workflow(
    found: WorkflowFile, place: Location, *, trusted: bool | None = None, context: "ResolveContext | None" = None
) -> OpenedWorkflow:
    """Read a workflow; bad content is reported, never raised.

    Python runs only if the user has trusted the bytes that were read; `trusted` overrides the record.
    """
    report = Report()
    if found.problem is not None:
        at = Span(SourceText(place.display_path(found.main), ""), 0, 0)
        report.error("workflow-files", f"'{found.name}' cannot be used: {found.problem}", at)
        return OpenedWorkflow(found, None, None, report, found.problem)
    snapshot = files_of(found)
    bundle = snapshot.bundle(place.display_path)
    opened = OpenedWorkflow(found, bundle, None, report, snapshot=snapshot)
    _report_refused(bundle, report)
    if bundle.main in bundle.refused:
        return opened
    if found.form == "python":
        opened = _open_python(opened, place, trusted, context)
    else:
        opened = _check_name(replace(opened, document=read_bundle(bundle, report)))
    if opened.document is None:
        return opened
    return replace(opened, document=replace(opened.document, origin=origin_of(found, place)))


def files_of(found: WorkflowFile) -> Snapshot:
    """Read the files of a workflow that was found."""
    # Users may store workflows elsewhere and link to them; a repository's links were checked when it was found.
    return take(found.main.resolve() if found.tier is Tier.USER else found.main)


def catalog_for(place: Location, context: "ResolveContext | None" = None) -> "Catalog":
    """Build the catalog for compiling here; other workflows are found and read on first use."""
    from handrail.compiler.catalog import Catalog  # noqa: PLC0415 (a list need not compile)
    from handrail.sources.library import builtins  # noqa: PLC0415

    return Catalog(builtins(), bindings_for(place), LocationWorkflows(place, context))


def bindings_for(place: Location) -> SourceText | None:
    """Read the bindings of the project: its repository's, or those of a folder outside any repository."""
    root = place.repository or place.cwd
    path = bindings_in(root) if root is not None else None
    return _text_of(path, place) if path is not None else None


def bindings_content(place: Location, bindings: SourceText | None) -> FileContent | None:
    """Return the bindings file with the bytes that were read."""
    root = place.repository or place.cwd
    path = bindings_in(root) if root is not None else None
    if bindings is None or path is None:
        return None
    return FileContent(real(path.parent) / path.name, bindings.text.encode())


class LocationWorkflows:
    """The workflows of a place by name, each opened at most once; trust is checked on the bytes that were read."""

    def __init__(self, place: Location, context: "ResolveContext | None" = None) -> None:
        self._place = place
        self._context = context
        self._listed: tuple[WorkflowFile, ...] | None = None
        self._opened: dict[Path, OpenedWorkflow | None] = {}

    def find(self, asker: str, name: str) -> Document | None:
        """Return a workflow that can be read; untrusted Python is not opened."""
        opened = self.open(asker, name)
        return None if opened is None else opened.document

    def names(self, asker: str) -> tuple[str, ...]:
        """List the names of all workflows that the asker may use, whether or not they can be read."""
        return tuple(dict.fromkeys(found.name for found in visible_to(asker, self._list_all())))

    def obstacle(self, asker: str, name: str) -> "Obstacle | None":
        """Explain why an existing workflow is not used."""
        from handrail.compiler.catalog import Obstacle  # noqa: PLC0415 (a list need not compile)

        found, opened = self._find_workflow(asker, name), self.open(asker, name)
        if found is None:
            hidden = self._find_workflow("", name)
            hint = f"the repository has one; to use that one, write {Tier.REPOSITORY}:{name}"
            message = f"neither you nor Handrail has a workflow '{name}'"
            return None if hidden is None else Obstacle("unknown-workflow", message, hint)
        path = shlex.quote(self._place.display_path(found.main))
        if opened is not None and opened.note == UNTRUSTED:
            message = f"the workflow '{name}' is Python, and its current content has not been trusted"
            return Obstacle("untrusted", message, f"read it, then: handrail trust {path}")
        why = f": {found.problem}" if found.problem is not None else ""
        return Obstacle("invalid-routine", f"the workflow '{name}' cannot be read{why}", f"handrail validate {path}")

    def qualify(self, asker: str, name: str) -> str:
        """Prefix a name with its tier where it means another workflow for other askers."""
        found = self._find_workflow(asker, name)
        return name if found is None or found is self._find_workflow("", name) else f"{found.tier}:{name}"

    def open(self, asker: str, name: str) -> OpenedWorkflow | None:
        """Open the workflow that a name means for the asker; None where there is none."""
        found = self._find_workflow(asker, name)
        if found is None:
            return None
        if found.main not in self._opened:
            self._opened[found.main] = None  # A workflow that refers to itself while it is being opened finds nothing.
            with suppress(HandrailError):
                self._opened[found.main] = open_workflow(found, self._place, context=self._context)
        return self._opened[found.main]

    def _find_workflow(self, asker: str, name: str) -> WorkflowFile | None:
        return resolve_name(self._list_all(), asker, name)

    def _list_all(self) -> tuple[WorkflowFile, ...]:
        if self._listed is None:
            self._listed = discover(self._place, Report())
        return self._listed


def _open_python(
    opened: OpenedWorkflow, place: Location, trusted: bool | None, context: "ResolveContext | None"
) -> OpenedWorkflow:
    from handrail.sources.python.form import evaluate  # noqa: PLC0415 (few workflows are Python)
    from handrail.sources.trust.store import TrustStore  # noqa: PLC0415

    snapshot, bundle = opened.snapshot, opened.bundle
    if snapshot is None or bundle is None:
        return opened
    if trusted is None:
        status = TrustStore(place.folders).status_of(snapshot.contents)
        trusted, changed = status.is_granted, status.state == "changed"
    else:
        changed = False
    if not trusted:
        what = "has changed since it was trusted" if changed else "has not been trusted"
        hint = f"read it, then: handrail trust {shlex.quote(place.display_path(opened.found.main))}"
        opened.report.error("untrusted", f"this workflow is Python and {what}", Span(bundle.source, 0, 0), hint)
        return replace(opened, note=UNTRUSTED)
    return _check_name(replace(opened, document=evaluate(snapshot, bundle, context, place.display_path, opened.report)))


def _check_name(opened: OpenedWorkflow) -> OpenedWorkflow:
    """Check that a native workflow has the name of its folder; for a single file this is only a recommendation."""
    document, found = opened.document, opened.found
    name = document.root.get("name") if document is not None and document.dialect == "native" else None
    if not isinstance(name, Scalar) or not isinstance(name.value, str) or name.value == found.name:
        return opened
    if found.folder:
        hint = f"rename the folder to '{name.value}', or write name: {found.name}"
        message = f"the folder is called '{found.name}', but the workflow is called '{name.value}'"
        opened.report.error("folder-name", message, name, hint)
    else:
        message = f"the file is called '{found.name}', but the workflow is called '{name.value}'"
        hint = f"it is found as '{found.name}': write name: {found.name}, or rename the file"
        opened.report.warning("folder-name", message, name, hint)
    return opened


def _report_refused(bundle: Bundle, report: Report) -> None:
    """Report files that matter even where nothing refers to them: the main file, and whole companion folders."""
    for name in (bundle.main, *COMPANION_FOLDERS):
        why = bundle.refused.get(name)
        if why is not None:
            what = "the file" if name == bundle.main else f"the folder '{name}'"
            code = REASONS.get(why, "file-unreadable")
            report.error(code, f"{what} cannot be used: {why}", Span(bundle.source, 0, 0))


def _text_of(path: Path, place: Location) -> SourceText | None:
    data = read_bytes(path, place.repository or path.parent)
    text = data if isinstance(data, Refusal) else decode(data)
    return None if isinstance(text, Refusal) else SourceText(place.display_path(path), text)
