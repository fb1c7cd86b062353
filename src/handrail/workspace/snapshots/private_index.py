"""An index of our own for each work tree: it follows the files as they stand and leaves the real index alone.

It is kept for the stat data in it. It starts again from the real index when that has changed, or when a file that only
we know has become ignored.
"""

import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import cast

from handrail.frozen import frozen
from handrail.workspace.git.command import Git, shown, split
from handrail.workspace.git.data_places import read_json, write_json
from handrail.workspace.git.repositories import git_dir

INDEX, _MEMO, _COPY = "index", "memo.json", "copy"
_STATUS = (
    *("status", "--porcelain=v2", "--branch", "--no-ahead-behind", "-z", "--no-renames"),
    *("--untracked-files=all", "--ignore-submodules=none"),
)
_PATH_AT = {"1": 8, "u": 10}
"""How many fields come before the path."""
_MOST_FOLDERS = 128
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_GONE = b"0 0000000000000000000000000000000000000000\t"


@frozen
class Files:
    """The files of a work tree as they stand."""

    tree: str
    head: str
    """The commit of HEAD; empty before the first one."""
    omitted: tuple[str, ...]


@frozen
class Staged:
    """The real index: a tree of what is merged, and the entries of what is not."""

    tree: str
    unmerged: bytes = b""
    """As `git ls-files --unmerged -z` prints it."""


@frozen
class _Seen:
    head: str
    gone: list[bytes]
    changed: list[bytes]
    untracked: list[bytes]
    nested: list[bytes]
    dirt: list[bytes]


@frozen
class _Memo:
    boot: str
    signature: list[int]
    staged: str
    extras: list[str]
    tree: str = ""
    """The files as they stood; git may have thrown the tree away since."""


class PrivateIndex:
    """The index of one work tree; hold the work tree's lock while using it."""

    def __init__(self, git: Git, folder: Path) -> None:
        self._git = git
        self._folder = folder
        self.path = folder / INDEX
        self._boot = _boot()
        # It is a copy that the next start of the machine makes void, so the disk need not have it at once.
        settings = (*git.settings, "core.fsync=all,-index") if self._boot else git.settings
        self.git = replace(git.with_index(self.path), settings=settings)
        self.own = git_dir(git.where)
        """The git folder of the work tree."""
        self._real = self.own / "index"

    def follow(self, held: Callable[[], str] = lambda: "") -> tuple[Files, Staged]:
        """Bring it up to the files as they stand, and give them beside the real index.

        `held` gives a tree that a ref keeps: where the files are still that, git need not write it.
        """
        signature = _signature(self._real)
        memo = self._start(signature)
        with self.git.started(*_STATUS) as look:
            # Beside the look at the files: both walk all folders, and neither needs the other.
            empty = self._empty_folders()
            seen = self._seen(look.ended().out)
        same = not self._take_up(seen) and memo.tree and memo.tree == held()
        tree = memo.tree if same else self.git.line("write-tree")
        staged = Staged(memo.staged) if memo.staged else self._staged()
        extras = [*memo.extras, *(os.fsdecode(path) for path in seen.untracked)]
        kept_tree = "" if staged.unmerged else staged.tree
        self._keep(memo, _Memo(self._boot, signature, kept_tree, extras, tree))
        return Files(tree, seen.head, _omitted(seen, empty)), staged

    def add(self, paths: list[bytes]) -> str:
        """Add files in any case, ignored ones too; gives the tree."""
        self.forget()
        self.git.out("update-index", "-z", "--add", "--replace", "--stdin", stdin=b"\0".join(paths))
        return self.git.line("write-tree")

    def forget(self) -> None:
        """Start from the real index next time."""
        (self._folder / _MEMO).unlink(missing_ok=True)

    def _start(self, signature: list[int]) -> _Memo:
        (self._folder / f"{INDEX}.lock").unlink(missing_ok=True)
        memo = _read_memo(self._folder / _MEMO)
        same = memo is not None and (memo.boot, memo.signature) == (self._boot, signature)
        if memo and same and self.path.exists() and not self._some_ignored(memo.extras):
            return memo
        self.forget()
        _copy(self._real, self.path)
        return _Memo(self._boot, signature, "", [])

    def _some_ignored(self, extras: list[str]) -> bool:
        if not extras:
            return False
        listing = b"\0".join(os.fsencode(path) for path in extras)
        return self._git.run("check-ignore", "-q", "-z", "--stdin", stdin=listing, ok=(0, 1, 128)).code != 1

    def _keep(self, before: _Memo, now: _Memo) -> None:
        if now != before:
            write_json(self._folder / _MEMO, asdict(now), durable=not self._boot)

    def _seen(self, listing: bytes) -> _Seen:
        seen = _Seen("", [], [], [], [], [])
        head = ""
        for entry in split(listing):
            if entry.startswith(b"# branch.oid "):
                head = entry.rpartition(b" ")[2].decode()
            elif entry.startswith(b"? "):
                (seen.nested if entry.endswith(b"/") else seen.untracked).append(entry[2:])
            elif entry[:2] in (b"1 ", b"u "):
                _note(entry, seen, self._git.where)
        return _Seen("" if head == "(initial)" else head, *_rest(seen))

    def _take_up(self, seen: _Seen) -> bool:
        """Take up what changed; tells whether anything did."""
        if not (seen.gone or seen.changed or seen.untracked):
            return False
        # Until the memo is written again the private index knows of files that nobody remembers.
        self.forget()
        if seen.gone:
            self.git.out("update-index", "-z", "--index-info", stdin=b"".join(_GONE + p + b"\0" for p in seen.gone))
        if seen.changed or seen.untracked:
            paths = b"\0".join((*seen.changed, *seen.untracked))
            self.git.out("update-index", "-z", "--add", "--remove", "--replace", "--stdin", stdin=paths)
        return True

    def _staged(self) -> Staged:
        copy = self._folder / _COPY
        copy.with_name(f"{_COPY}.lock").unlink(missing_ok=True)
        _copy(self._real, copy)
        git = self._git.with_index(copy)
        ran = git.run("write-tree", ok=(0, 128))
        if not ran.code:
            return Staged(ran.out.decode().strip())
        unmerged = git.out("ls-files", "--unmerged", "-z")
        paths = {entry.partition(b"\t")[2] for entry in split(unmerged)}
        git.out("update-index", "-z", "--index-info", stdin=b"".join(_GONE + path + b"\0" for path in sorted(paths)))
        return Staged(git.line("write-tree"), unmerged)

    def _empty_folders(self) -> list[bytes]:
        # Mostly there are none, and seeing that takes less time than git takes to start.
        if not _may_be_empty(self._git.where):
            return []
        listing = self.git.out("ls-files", "--others", "--directory", "--exclude-standard", "-z")
        return [path for path in split(listing) if path.endswith(b"/") and self._holds_nothing(path)]

    def _holds_nothing(self, path: bytes) -> bool:
        walk = os.walk(os.fsencode(self._git.where) + b"/" + path)
        return all(not files and b".git" not in folders for _, folders, files in walk)


def _omitted(seen: _Seen, empty: list[bytes]) -> tuple[str, ...]:
    texts = [f"{shown(path)}: a repository of its own" for path in seen.nested]
    texts += [f"{shown(path)}: changes inside a submodule" for path in seen.dirt]
    return (*sorted(texts), *sorted(f"{shown(path)}: an empty folder" for path in empty))


def cannot_be_kept(omitted: tuple[str, ...]) -> tuple[str, ...]:
    """Give those of what a snapshot omits that would be lost with the folder."""
    return tuple(text for text in omitted if not text.endswith(": an empty folder"))


def _note(entry: bytes, seen: _Seen, where: Path) -> None:
    kind = entry[:1].decode()
    fields = entry.split(b" ", _PATH_AT[kind])
    path, state, submodule = fields[-1], fields[1], fields[2]
    if submodule[:1] == b"S" and submodule[2:] != b"..":
        seen.dirt.append(path)
    gone = state.endswith(b"D") if kind == "1" else not os.path.lexists(os.fsencode(where) + b"/" + path)
    if gone:
        seen.gone.append(path)
    elif kind == "u" or not state.endswith(b"."):
        seen.changed.append(path)


def _rest(seen: _Seen) -> tuple[list[bytes], list[bytes], list[bytes], list[bytes], list[bytes]]:
    return seen.gone, seen.changed, seen.untracked, seen.nested, seen.dirt


def _may_be_empty(where: Path) -> bool:
    """Tell whether a folder below may hold nothing; of many folders, or such as cannot be read, nobody knows."""
    folders = [str(where)]
    seen = 0
    while folders:
        seen += 1
        try:
            inside = list(os.scandir(folders.pop()))
        except OSError:
            return True
        if seen > _MOST_FOLDERS or not inside:
            return True
        folders += [each.path for each in inside if each.is_dir(follow_symlinks=False) and each.name != ".git"]
    return False


def _signature(path: Path) -> list[int]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return []
    return [found.st_mtime_ns, found.st_size, found.st_ino]


def _copy(real: Path, copy: Path) -> None:
    # The time goes with it: git compares it with those of the files to know which it must read again.
    if real.exists():
        draft = copy.with_name(f"{copy.name}.draft")
        shutil.copy2(real, draft)
        draft.replace(copy)
    else:
        copy.unlink(missing_ok=True)


def _read_memo(path: Path) -> _Memo | None:
    found = read_json(path)
    if not isinstance(found, dict):
        return None
    data = cast("dict[str, object]", found)
    signature, extras = cast("list[int]", data["signature"]), cast("list[str]", data["extras"])
    return _Memo(str(data.get("boot", "")), signature, str(data["staged"]), extras, str(data.get("tree", "")))


@cache
def _boot() -> str:
    """Name the current start of the machine; empty where only the disk remembers."""
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""
