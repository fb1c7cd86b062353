"""What is remembered of a worktree between two checks of its files, until the machine is rebooted."""

from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, cast

from handrail.frozen import frozen
from handrail.workspace.git.data_places import read_json, write_json

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
