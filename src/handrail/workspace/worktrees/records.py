"""What we remember about each worktree that we made: one small file beside it.

Such a record is the only proof that a folder is ours. A path, a branch or a ref that is found anywhere else, in a run's
history or in the repository, is data: it may name the user's own checkout, or the work of another run.
"""

import os
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

from handrail.errors import WorkspaceFault
from handrail.frozen import frozen
from handrail.model.history.trees import Tree
from handrail.workspace.git.data_places import DataLayout, read_json, safe_name, write_json
from handrail.workspace.snapshots.state import REFS

_FOLDER = "worktrees"


@frozen(kw_only=True)
class WorktreeRecord:
    """A worktree of a run; it is in use only once it is `ready`."""

    run: str
    path: str
    repository: str
    branch: str
    base: str
    commit: str
    start: str
    """The commit at which the branch began."""
    ready: bool = False
    teardown: tuple[str, ...] = ()
    """Commands that run in it before it is removed."""
    teardown_timeout: int = 120
    born: str = ""
    """When the run was created, to distinguish it from one of the same id in an earlier log; older records lack it."""

    def tree(self) -> Tree:
        """Return the worktree that it describes."""
        return Tree(path=self.path, repository=self.repository, branch=self.branch, base=self.base, commit=self.commit)

    def mark_ready(self) -> "WorktreeRecord":
        """Return a copy that is marked as ready."""
        return replace(self, ready=True)

    def is_of(self, run: str, born: str) -> bool:
        """Whether it belongs to this very run, where both say when that was created."""
        return self.run == run and (not born or not self.born or self.born == born)


def record_path(folder: Path, run: str) -> Path:
    """Return the file of a run's record in the folder of its repository's worktrees."""
    return folder / f"{safe_name(run)}.json"


def read_record(path: Path) -> WorktreeRecord | None:
    """Read a record; None if there is none."""
    match None if path.is_symlink() else read_json(path):
        case {"run": str(), "path": str(), "repository": str(), "branch": str(), "ready": bool()} as found:
            known = cast("dict[str, Any]", found)
            known["teardown"] = tuple(known.get("teardown", ()))
            return WorktreeRecord(**known)
        case _:
            return None


def write_record(path: Path, record: WorktreeRecord) -> None:
    """Write a record atomically."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_json(path, asdict(record))


def list_records(places: DataLayout) -> tuple[WorktreeRecord, ...]:
    """List every worktree that was made and not removed."""
    found = (read_record(path) for path in sorted(record_notes(places)))
    return tuple(record for record in found if record)


def record_notes(places: DataLayout) -> Iterator[Path]:
    """Give the files of all records."""
    return (places.folder / _FOLDER).glob("*/*.json")


def worktree_of(note: Path) -> Path:
    """Give the folder of the worktree that a record is about, by the file of the record."""
    return note.with_name(note.name.removesuffix(".json"))


def record_of(places: DataLayout, path: Path) -> WorktreeRecord | None:
    """Return the record of a folder that is a worktree of ours; None for every other folder, whatever it contains."""
    home = places.folder / _FOLDER
    # A link on the way, or a `..`, resolves to somewhere else.
    if path.resolve() != home.resolve() / path.parent.name / path.name:
        return None
    record = read_record(home / path.parent.name / f"{path.name}.json")
    if record is None or safe_name(record.run) != path.name or Path(record.path).resolve() != path.resolve():
        return None
    return record


def require_own(places: DataLayout, path: Path, run: str) -> WorktreeRecord:
    """Return the record of a worktree that was made for this very run; anything else is refused, whoever names it."""
    record = require_ours(places, path)
    if record.run != run:
        message = f"{path} is the worktree of {record.run}, not of {run}"
        raise WorkspaceFault(message, next_step=f"it is removed with its run: handrail discard {record.run}")
    return record


def require_ours(places: DataLayout, path: Path) -> WorktreeRecord:
    """Return the record of a worktree of ours; a folder without one is never changed or removed."""
    record = record_of(places, path)
    if record is None:
        message = f"{path} is not a worktree that was created for a run of this data folder, so it is left unchanged"
        raise WorkspaceFault(message, next_step="check it yourself; nothing in it was changed")
    if (path / ".git").is_dir():
        message = f"{path} contains a separate repository, not the worktree that was created there"
        raise WorkspaceFault(message, next_step="move that repository elsewhere, then try again")
    return record


def owner_ref(run: str, branch: str) -> str:
    """Return the ref that marks a branch as made for a run; it names the commit at which the branch began."""
    return f"{REFS}owned/{safe_name(run)}/{branch}"


def is_whole(path: Path, common: Path) -> bool:
    """Whether a worktree's folder and its entry in the repository belong together."""
    return (
        any(_is_entry_for(entry, path) and (entry / "HEAD").is_file() for entry in admin_folders(path, common))
        and (path / ".git").is_file()
    )


def admin_folders(path: Path, common: Path) -> list[Path]:
    """List the entries of the repository for a worktree of ours, including half-made ones."""
    entries = [entry for entry in (common / "worktrees").glob("*") if entry.is_dir() and not entry.is_symlink()]
    own_name = [entry for entry in entries if entry.name.rstrip("0123456789") == path.name.rstrip("0123456789")]
    unfinished = [entry for entry in own_name if not (entry / "gitdir").exists() and entry.name.startswith(path.name)]
    return [entry for entry in entries if _is_entry_for(entry, path)] + unfinished


def _is_entry_for(entry: Path, path: Path) -> bool:
    try:
        return os.fsdecode((entry / "gitdir").read_bytes()).rstrip("\n") == str(path / ".git")
    except OSError:
        return False
