"""What is remembered of a work tree between two looks at its files, until the machine starts again."""

from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, cast

from handrail.frozen import frozen
from handrail.workspace.git.data_places import read_json, write_json

_MEMO, _BOOT_NOTE = "memo.json", "boot"
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@frozen
class Basis:
    """The snapshot on which a step began, with which files are compared; an empty one means the rules on the disk."""

    rules: str = ""
    work: str = ""


@frozen
class Memo:
    """What was seen at the last look."""

    signature: list[int]
    """Of the real index."""
    staged: str
    tree: str = ""
    """The files as they stood; git may have thrown the tree away since."""
    basis: dict[str, str] | None = None
    rules: str = ""
    """The blob of the rules that the files had."""
    hidden: dict[str, str] | None = None
    """Files of rules that are ignored themselves, and those of git's own folder, with their digests."""

    def has_other_rules(self, basis: Basis) -> bool:
        """Tell whether other rules count by a basis than at the last look."""
        return (self.basis or {}).get("rules", "") != basis.rules


@frozen
class MemoFile:
    """The memo of one work tree; it is void after a start of the machine, where that can be told."""

    folder: Path

    @property
    def boot(self) -> str:
        """The current start of the machine; empty where only the disk remembers."""
        return _boot()

    def read(self) -> Memo | None:
        """Give what is remembered."""
        found = read_json(self.folder / _MEMO)
        if not isinstance(found, dict) or "hidden" not in found:
            return None
        return Memo(**cast("dict[str, Any]", found))

    def write(self, memo: Memo) -> None:
        """Remember something else."""
        write_json(self.folder / _MEMO, asdict(memo), durable=not self.boot)

    def remove(self) -> None:
        """Remember nothing."""
        (self.folder / _MEMO).unlink(missing_ok=True)

    def is_trusted(self) -> bool:
        """Tell whether the index beside it was begun since the machine started."""
        return read_json(self.folder / _BOOT_NOTE) == self.boot

    def trust(self) -> None:
        """Trust the index beside it until the machine starts again."""
        write_json(self.folder / _BOOT_NOTE, self.boot, durable=not self.boot)

    def distrust(self) -> None:
        """Trust the index no more."""
        (self.folder / _BOOT_NOTE).unlink(missing_ok=True)


def signature_of(path: Path) -> list[int]:
    """Tell a file from what it is after git wrote it again."""
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
