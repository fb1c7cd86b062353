"""Which files of a folder are workflows, and what their names are."""

import json
import os
from pathlib import Path
from typing import cast

from handrail.frozen import frozen
from handrail.model.source import Form
from handrail.sources.foreign_files import NOT_A_FILE, Refusal, decode, printable, read_bytes, reason, scan
from handrail.sources.workflow_snapshot import COMPANION_FOLDERS, MAIN_NAMES, TESTS, VERSIONS, is_folder_form

FORMS: dict[str, Form] = {".yaml": "yaml", ".yml": "yaml", ".json": "json", ".py": "python"}
VARIANTS = (".agentic.", ".v2.", ".lean.")
"""Marks of WorkRail's variants of one workflow in the name of its file, the strongest last."""
NOT_WORKFLOWS = ("hooks.py", "conftest.py")
MAX_NAME_LENGTH = 128
MAX_ENTRIES = 2000
"""The most entries of a folder of workflows: each file is read with its neighbours, so time grows quadratically."""


@frozen
class WorkflowCandidate:
    """A file that is a workflow by its name and place."""

    name: str
    form: Form
    main: Path
    folder: bool
    problem: str | None = None


def workflows_in(folder: Path) -> list[WorkflowCandidate]:
    """List the workflows of a tier's folder, those that win among equal names first."""
    found: list[WorkflowCandidate] = []
    for entry in scan(folder, MAX_ENTRIES):
        path = folder / entry.name
        if entry.name.startswith("_") or entry.name.casefold() == VERSIONS:
            continue
        if is_dir(entry):
            own = _folder_candidate(path)
            found += [own] if own else routines_below(path) if entry.name == "routines" else []
        elif path.suffix in FORMS and entry.name not in NOT_WORKFLOWS:
            found.append(_single(path) if not is_folder_form(path) else _homeless(path))
    return sorted(found, key=_strength)


def routines_in(folder: Path) -> list[WorkflowCandidate]:
    """List the JSON files of a folder of routines."""
    files = (folder / entry.name for entry in scan(folder, MAX_ENTRIES) if not entry.name.startswith("_"))
    return sorted((_single(path) for path in files if path.suffix == ".json"), key=_strength)


def routines_below(folder: Path) -> list[WorkflowCandidate]:
    """List the routines of a folder inside a tier's, which may be unreadable."""
    try:
        return routines_in(folder)
    except OSError:
        return []


def find_candidate(path: Path) -> WorkflowCandidate | None:
    """Return the workflow at a path: a file, or a folder with a workflow file."""
    try:
        if path.is_dir():
            return _folder_candidate(path)
        if path.suffix in FORMS and (path.exists() or path.is_symlink()):
            absolute = path.absolute()
            return _folder_main(absolute, None) if is_folder_form(path) else _single(absolute)
    except (OSError, ValueError):
        return None
    return None


def _folder_candidate(folder: Path) -> WorkflowCandidate | None:
    try:
        mains = [name for name in MAIN_NAMES if (folder / name).is_symlink() or (folder / name).exists()]
        if not mains:
            scan(folder)
            return None
    except OSError as error:
        if folder.name in {*COMPANION_FOLDERS, TESTS}:
            return None
        return WorkflowCandidate(
            _clean(folder.name), "yaml", folder / MAIN_NAMES[0], folder=True, problem=reason(error)
        )
    problem = f"it contains both {mains[0]} and {mains[1]}; keep one of them" if len(mains) > 1 else None
    return _folder_main(folder.absolute() / mains[0], problem)


def _folder_main(main: Path, problem: str | None) -> WorkflowCandidate:
    form = FORMS[main.suffix]
    name = _json_id(main) if form == "json" else None
    named = Path(os.path.normpath(main)).parent.name
    return WorkflowCandidate(name or _clean(named), form, main, folder=True, problem=problem or _unusable(main))


def _single(path: Path) -> WorkflowCandidate:
    form = FORMS[path.suffix]
    name = _json_id(path) if form == "json" else None
    return WorkflowCandidate(name or _clean(path.stem), form, path, folder=False, problem=_unusable(path))


def _homeless(path: Path) -> WorkflowCandidate:
    problem = f"it must be in its own folder, such as {path.parent.name}/my-workflow/{path.name}"
    return WorkflowCandidate(path.stem, FORMS[path.suffix], path, folder=False, problem=problem)


def _json_id(path: Path) -> str | None:
    """Read a JSON workflow's id; None where it cannot be read, which opening the file will report."""
    data = read_bytes(path, Path(path.anchor or "."))
    text = data if isinstance(data, Refusal) else decode(data)
    if isinstance(text, Refusal):
        return None
    try:
        parsed: object = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None
    found = cast("dict[str, object]", parsed).get("id") if isinstance(parsed, dict) else None
    return _clean(found) if isinstance(found, str) and found.strip() else None


def _unusable(path: Path) -> str | None:
    try:
        return None if path.is_file() else "it is a link that leads nowhere" if path.is_symlink() else NOT_A_FILE
    except OSError as error:
        return f"it cannot be read: {reason(error)}"


def is_dir(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder, links followed; one in a loop of links is not."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _clean(name: str) -> str:
    shown = printable(name)
    return shown if len(shown) <= MAX_NAME_LENGTH else shown[: MAX_NAME_LENGTH - 1] + "…"


def _strength(candidate: WorkflowCandidate) -> tuple[bool, bool, int, str]:
    as_json = candidate.form == "json"
    rank = variant_rank(candidate.main.name) if as_json and not candidate.folder else 0
    return not candidate.folder, as_json, -rank, candidate.main.name


def variant_rank(file_name: str) -> int:
    """Return a file's rank among the variants of one workflow; the highest is used."""
    ranks = (rank for rank, mark in enumerate(VARIANTS, start=1) if mark in file_name)
    return max(ranks, default=0)
