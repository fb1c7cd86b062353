"""What is remembered of worktrees that were removed: the refs that keep their work, so that these can go one day."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

from handrail.frozen import frozen
from handrail.workspace.git.data_places import Places, plain, read_json, short, write_json

_FOLDER = "removed"


@frozen(kw_only=True)
class Removed:
    """A worktree that was removed."""

    run: str
    repository: str
    base: str
    commit: str
    """What the run's own changes were measured against."""
    start: str
    """The commit that its branch began at."""
    refs: dict[str, str]
    """The refs that keep its work, each with the commit that it named."""
    at: float

    def without(self, ref: str) -> "Removed":
        """Give the same without a ref."""
        return replace(self, refs={name: commit for name, commit in self.refs.items() if name != ref})


def remember_removed(places: Places, common: Path, removed: Removed) -> None:
    """Remember a removal; what keeps nothing is forgotten."""
    path = places.folder / _FOLDER / f"{short(common)}-{plain(removed.run)}.json"
    if not removed.refs:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_json(path, asdict(removed))


def all_removed(places: Places) -> tuple[Removed, ...]:
    """List the removals that some ref still keeps the work of."""
    found = (_read(path) for path in sorted((places.folder / _FOLDER).glob("*.json")))
    return tuple(each for each in found if each is not None)


def _read(path: Path) -> Removed | None:
    match None if path.is_symlink() else read_json(path):
        case {"run": str(), "repository": str(), "refs": dict(), "at": float() | int()} as found:
            return Removed(**cast("dict[str, Any]", found))
        case _:
            return None
