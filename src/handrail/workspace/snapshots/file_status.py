"""What `git status` reports about the files of a worktree that differ from our index."""

import os
from dataclasses import replace
from pathlib import Path

from handrail.frozen import frozen
from handrail.workspace.git.command import split
from handrail.workspace.snapshots.rules import is_rule_file

STATUS = (
    *("status", "--porcelain=v2", "--branch", "--no-ahead-behind", "-z", "--no-renames"),
    *("--untracked-files=all", "--ignored=matching", "--ignore-submodules=dirty"),
)
_PATH_AT = {"1": 8, "u": 10}
"""How many fields come before the path."""


@frozen
class FileStatus:
    """Files that differ, grouped by how."""

    head: str
    gone: list[bytes]
    changed: list[bytes]
    untracked: list[bytes]
    nested: list[bytes]
    ignored: list[bytes]
    forced: list[bytes]
    """Files that only the real index or the basis had."""
    caches: list[bytes]
    """New folders that are caches and ignore themselves, unless the rules of the basis ignore them."""

    def has_rules(self) -> bool:
        """Whether a rule file is among them."""
        found = (self.gone, self.changed, self.untracked, self.forced)
        return any(is_rule_file(path) for paths in found for path in paths)


def read_status(listing: bytes, where: Path) -> FileStatus:
    """Parse what the command `STATUS` printed in a worktree."""
    seen = FileStatus("", [], [], [], [], [], [], [])
    head = ""
    for entry in split(listing):
        if entry.startswith(b"# branch.oid "):
            head = entry.rpartition(b" ")[2].decode()
        elif entry.startswith(b"? "):
            (seen.nested if entry.endswith(b"/") else seen.untracked).append(entry[2:])
        elif entry.startswith(b"! "):
            seen.ignored.append(entry[2:])
        elif entry[:2] in (b"1 ", b"u "):
            _note(entry, seen, where)
    return replace(seen, head="" if head == "(initial)" else head)


def _note(entry: bytes, seen: FileStatus, where: Path) -> None:
    kind = entry[:1].decode()
    fields = entry.split(b" ", _PATH_AT[kind])
    path, state = fields[-1], fields[1]
    gone = state.endswith(b"D") if kind == "1" else not os.path.lexists(os.fsencode(where) + b"/" + path)
    if gone:
        seen.gone.append(path)
    elif kind == "u" or not state.endswith(b"."):
        seen.changed.append(path)
