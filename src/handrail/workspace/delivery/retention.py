"""Remembers removed worktrees: the refs that preserve their work, so that these can be deleted one day."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

from handrail.frozen import frozen
from handrail.workspace.git.data_places import DataLayout, hash_path, read_json, safe_name, write_json

_FOLDER = "removed"


@frozen(kw_only=True)
class RemovedWorktree:
    """A worktree that was removed."""

    run: str
    repository: str
    base: str
    commit: str
    """The commit against which the run's own changes were measured."""
    start: str
    """The commit at which its branch began."""
    refs: dict[str, str]
    """The refs that preserve its work, each with its commit."""
    at: float

    def drop_ref(self, ref: str) -> "RemovedWorktree":
        """Return a copy without a ref."""
        return replace(self, refs={name: commit for name, commit in self.refs.items() if name != ref})


def remember_removed(places: DataLayout, common: Path, removed: RemovedWorktree) -> None:
    """Store a removal; one that no ref preserves is deleted."""
    path = places.folder / _FOLDER / f"{hash_path(common)}-{safe_name(removed.run)}.json"
    if not removed.refs:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_json(path, asdict(removed))


def list_removed(places: DataLayout) -> tuple[RemovedWorktree, ...]:
    """List the removals whose work some ref still preserves."""
    found = (_read(path) for path in sorted((places.folder / _FOLDER).glob("*.json")))
    return tuple(each for each in found if each is not None)


def _read(path: Path) -> RemovedWorktree | None:
    match None if path.is_symlink() else read_json(path):
        case {"run": str(), "repository": str(), "refs": dict(), "at": float() | int()} as found:
            return RemovedWorktree(**cast("dict[str, Any]", found))
        case _:
            return None
