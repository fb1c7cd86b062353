"""Detects which system files come from, and imports them."""

from collections.abc import Mapping

from handrail.authoring.importers.coven.workflow import import_coven, is_coven
from handrail.authoring.importers.cyrus.workflow import import_cyrus, is_cyrus
from handrail.authoring.importers.paths import clean_paths
from handrail.authoring.importers.result import ImportedWorkflows, Notes, SourceKind
from handrail.authoring.importers.workrail.workflow import import_workrail, is_workrail
from handrail.errors import UsageError

UNDERSTOOD = (
    "the supported kinds are: a WorkRail-style workflow (a .json file with 'steps' that have an 'id'), Coven's files"
    " (grimoires/*.yaml with spells/*.md), and a workflow folder with workflow.ts and prompts/*.md"
)
_IMPORTERS = {"workrail": import_workrail, "coven": import_coven, "cyrus": import_cyrus}


def detect(files: Mapping[str, str]) -> SourceKind | None:
    """Detect which system the files come from; None if it is unknown."""
    clean = clean_paths(files)
    if is_coven(clean):
        return "coven"
    if is_cyrus(clean):
        return "cyrus"
    return "workrail" if is_workrail(clean) else None


def import_files(files: Mapping[str, str], kind: SourceKind | None = None) -> ImportedWorkflows:
    """Translate files of another system into native workflow folders."""
    kind = kind or detect(files)
    if kind is None:
        raise UsageError("these files are not of a kind that can be imported", next_step=UNDERSTOOD)
    notes = Notes()
    clean = clean_paths(files)
    for path in files:
        if not clean_paths({path: ""}):
            notes.add_lost(path, 1, "the file was not imported: its path leads outside the folder")
    made = _IMPORTERS[kind](clean, notes)
    if not made:
        found = next((note for note in notes if note.severity == "lost"), None)
        reason = f": {found.file} line {found.line}: {found.message}" if found else ""
        raise UsageError(f"no workflow could be imported{reason}", next_step=UNDERSTOOD)
    return ImportedWorkflows(kind, made, notes.list_notes())
