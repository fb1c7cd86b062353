"""What is remembered of a worktree between two checks of its files: until the next reboot, or within a process."""

from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from handrail.frozen import frozen
from handrail.workspace.git.data_places import read_json, write_json

if TYPE_CHECKING:
    from handrail.ports.workspaces import Snapshot
    from handrail.workspace.snapshots.watch import Watch

MOST_WATCHED = 16
"""How many worktrees one process watches."""
FEW = 2000
"""So many files and folders are examined so quickly that it need not be done in a thread."""
_FIRST_WAIT, _LONGEST_WAIT = 2, 64
_MEMO, _BOOT_NOTE = "memo.json", "boot"
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@frozen
class ComparisonBasis:
    """The snapshot on which a step began, with which files are compared; an empty one means the rules on disk."""

    rules: str = ""
    work: str = ""


@frozen
class IndexMemo:
    """What was seen at the last check."""

    signature: list[int]
    """The stat data of the real index."""
    staged: str
    tree: str = ""
    """The tree of the files at that time; git may have pruned it since."""
    basis: dict[str, str] | None = None
    rules: str = ""
    """The blob of the rules that the files had."""
    hidden: dict[str, str] | None = None
    """Rule files that are ignored themselves, and those of git's own folder, with their digests."""

    def has_other_rules(self, basis: ComparisonBasis) -> bool:
        """Whether a basis has other rules than those of the last check."""
        return (self.basis or {}).get("rules", "") != basis.rules


@frozen
class MemoFile:
    """The memo of one worktree; it is void after a reboot, where that can be detected."""

    folder: Path

    @property
    def boot(self) -> str:
        """The id of the current boot; empty where the machine does not provide it."""
        return _boot()

    def files(self) -> tuple[Path, ...]:
        """List the files in which it is remembered."""
        return self.folder / _MEMO, self.folder / _BOOT_NOTE

    def read(self) -> IndexMemo | None:
        """Return what is remembered."""
        found = read_json(self.folder / _MEMO)
        if not isinstance(found, dict) or "hidden" not in found:
            return None
        return IndexMemo(**cast("dict[str, Any]", found))

    def write(self, memo: IndexMemo) -> None:
        """Replace what is remembered."""
        write_json(self.folder / _MEMO, asdict(memo), durable=not self.boot)

    def remove(self) -> None:
        """Delete the memo."""
        (self.folder / _MEMO).unlink(missing_ok=True)

    def is_trusted(self) -> bool:
        """Whether the index beside it was created since the machine booted."""
        return read_json(self.folder / _BOOT_NOTE) == self.boot

    def trust(self) -> None:
        """Trust the index beside it until the machine is rebooted."""
        write_json(self.folder / _BOOT_NOTE, self.boot, durable=not self.boot)

    def distrust(self) -> None:
        """Stop trusting the index."""
        (self.folder / _BOOT_NOTE).unlink(missing_ok=True)


class Watches:
    """The worktrees that one process watches, each for one run, so that it need not run git where nothing changed."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Watch] = {}
        self._waits: dict[tuple[str, str], tuple[int, int]] = {}
        """How many unchanged snapshots to wait for until a worktree is watched, and how many the next time."""

    def recall(self, path: str, run: str, since: str, most: int | None = None) -> "Snapshot | None":
        """Return the snapshot `since` if nothing changed; None too where more files than `most` are watched."""
        key = (path, run)
        known = self._known.get(key)
        if known is None or known.snapshot.id != since or (most is not None and len(known.paths) > most):
            return None
        if known.is_current():
            self._waits.pop(key, None)
            return known.snapshot
        self._known.pop(key, None)
        return None

    def is_due(self, path: str, run: str) -> bool:
        """Whether to watch a worktree that was unchanged again; the longer, the less often watching it has paid."""
        wait, then = self._waits.get((path, run), (_FIRST_WAIT, 2 * _FIRST_WAIT))
        is_due = wait <= 1
        self._waits[path, run] = (then, min(2 * then, _LONGEST_WAIT)) if is_due else (wait - 1, then)
        return is_due

    def remember(self, run: str, watch: "Watch") -> None:
        """Watch a worktree for a run."""
        while len(self._known) >= MOST_WATCHED:
            self._known.pop(next(iter(self._known)), None)
        self._known[watch.root, run] = watch


def signature_of(path: Path) -> list[int]:
    """Return stat data of a file that changes when git writes the file."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return []
    return [found.st_mtime_ns, found.st_size, found.st_ino]


@cache
def _boot() -> str:
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""
