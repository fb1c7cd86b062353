"""What we remember about each worktree that we made: one small file beside it."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

from handrail.frozen import frozen
from handrail.model.history.trees import Tree
from handrail.workspace.git.data_places import Places, plain, read_json, write_json


@frozen(kw_only=True)
class WorktreeRecord:
    """A worktree of a run; it may have been handed out only when `ready`."""

    run: str
    path: str
    repository: str
    branch: str
    base: str
    commit: str
    start: str
    """The commit that the branch began at."""
    ready: bool = False
    teardown: tuple[str, ...] = ()
    """Commands that run in it before it is removed."""
    teardown_timeout: int = 120

    def tree(self) -> Tree:
        """Give the worktree that it is about."""
        return Tree(path=self.path, repository=self.repository, branch=self.branch, base=self.base, commit=self.commit)

    def made(self) -> "WorktreeRecord":
        """Give the same as a worktree that is complete."""
        return replace(self, ready=True)


def record_path(folder: Path, run: str) -> Path:
    """Give the file of a run's record in the folder of its repository's worktrees."""
    return folder / f"{plain(run)}.json"


def read_record(path: Path) -> WorktreeRecord | None:
    """Read a record; None if there is none."""
    match read_json(path):
        case {"run": str(), "path": str(), "repository": str(), "branch": str(), "ready": bool()} as found:
            known = cast("dict[str, Any]", found)
            known["teardown"] = tuple(known.get("teardown", ()))
            return WorktreeRecord(**known)
        case _:
            return None


def write_record(path: Path, record: WorktreeRecord) -> None:
    """Write a record at once."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_json(path, asdict(record))


def all_records(places: Places) -> tuple[WorktreeRecord, ...]:
    """List every worktree that was made and not removed."""
    found = (read_record(path) for path in sorted((places.folder / "worktrees").glob("*/*.json")))
    return tuple(record for record in found if record)
