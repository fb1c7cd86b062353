"""Knows without git that a worktree is still what its newest snapshot says.

Starting git takes longer than many a step. Once a snapshot was equal to the one before, the stat data of everything it
depends on is remembered in this process: each file of it, each folder that git searched, the rule files, HEAD, the
refs, the real index, and our own index with its settings. While all of that is the same, so is the snapshot.

1. A folder whose times are the same has the same entries, so nothing is listed again. Neither git nor this module
   searches folders that are ignored.
2. Nobody can set the time of a change (ctime). Two changes within one tick of the clock have the same, so nothing is
   remembered while anything changed about when the snapshot began, by the clock of the file system itself.
3. What git judges by more than stat data is left to git: nested repositories, sparse checkouts, unmerged files, files
   of the snapshot in ignored folders, refs of another format. So is what lies on a file system that is not known to
   note each change: on one in memory, a write through `mmap` changes no time.
4. Where there are many files, another process looks at half of them at the same time (`processes.stat_helper`).
"""

import os
import re
from collections.abc import Container, Iterable, Iterator
from operator import attrgetter
from pathlib import Path

from handrail.frozen import frozen
from handrail.model.history.trees import Tree
from handrail.ports.workspaces import Snapshot
from handrail.processes.stat_helper import STAT_HELPER, encode_request, is_unchanged
from handrail.workspace.git.command import GitFolders, split
from handrail.workspace.git.repository_view import list_sources
from handrail.workspace.snapshots import omitted
from handrail.workspace.snapshots.private_index import PrivateIndex
from handrail.workspace.snapshots.rules import is_rule_file
from handrail.workspace.snapshots.state import State, run_ref

MAX_FILES = 5000
"""More files and folders than that are left to git, which examines them in several threads."""
MANY_FILES = 400
"""So many files and folders take longer to look at than a helper takes to wake up."""
FILE_SYSTEMS = frozenset({"ext2", "ext3", "ext4", "xfs", "f2fs", "overlay"})
"""Those on which each change of a file or folder shows in its ctime."""
_MOUNTS = Path("/proc/self/mountinfo")
_TICK = 20_000_000
"""Nanoseconds between two moments that certainly have different times: twice the longest tick of a Linux clock."""
_COARSE_TICK = 3_000_000_000
"""The same on a file system that stores whole seconds, or every second one."""
_SIGNATURE = attrgetter("st_ctime_ns", "st_mtime_ns", "st_size", "st_ino", "st_mode")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_GITLINK = b"160000 "
_LOOSE = re.compile(rb"[0-9a-f]{40,64}\n")

Signature = tuple[int, ...]


@frozen
class Watch:
    """The stat data of everything that one snapshot depends on."""

    root: str
    snapshot: Snapshot
    paths: list[bytes]
    """The files and folders of the worktree."""
    times: list[int]
    """When each of them changed last: whatever is done to a file or a folder sets its ctime."""
    places: dict[str, Signature]
    """Files and folders of git and of ours; those that are missing have an empty signature."""

    request: bytes = b""
    """What a helper is asked about the second half of the files, if they are many."""

    def is_current(self) -> bool:
        """Whether all of it is the same."""
        return self._has_same_files() and all(_sign(place) == known for place, known in self.places.items())

    def _has_same_files(self) -> bool:
        root = os.fsencode(self.root)
        if not self.request or not STAT_HELPER.ask(self.request):
            return is_unchanged(root, self.paths, self.times)
        half = len(self.paths) // 2
        same, others = is_unchanged(root, self.paths[:half], self.times[:half]), STAT_HELPER.hear()
        if others is None:
            others = is_unchanged(root, self.paths[half:], self.times[half:])
        return same and others


@frozen
class Moment:
    """When a snapshot began, by the clock of a file system."""

    device: int
    latest: int
    """What changed before that has certainly changed before the snapshot began, and any later change shows."""


def read_moment(created: int) -> Moment:
    """Return the moment at which an open file was created."""
    found = os.fstat(created)
    # Whole milliseconds: a coarse clock, or one chance in a million.
    tick = _TICK if found.st_ctime_ns % 1_000_000 else _COARSE_TICK
    return Moment(found.st_dev, found.st_ctime_ns - tick)


def watch_snapshot(private: PrivateIndex, tree: Tree, state: State, taken: Snapshot, began: Moment) -> Watch | None:
    """Remember what a snapshot depends on that was just found to be unchanged; None where that is left to git."""
    refs = [name for name in (run_ref(state.run), f"refs/heads/{tree.branch}" * bool(tree.branch), state.ref) if name]
    if not (_is_plain(private, state) and _has_plain_refs(private.view, refs) and _notes_changes(began.device)):
        return None
    places = {place: _sign(place) for place in _list_places(private, tree, refs)}
    if any(signed and signed[0] >= began.latest for signed in places.values()):
        return None
    # These are written only by who holds the lock of the worktree, as we do.
    places |= {place: _sign(place) for place in map(str, private.list_own_files())}
    paths = _list_paths(private)
    found = [] if paths is None else _read_stat_data(tree.path, paths)
    if not paths or not found or any(each.st_dev != began.device or each.st_ctime_ns >= began.latest for each in found):
        return None
    times = [each.st_ctime_ns for each in found]
    half = len(paths) // 2
    request = encode_request(os.fsencode(tree.path), paths[half:], times[half:]) if len(paths) >= MANY_FILES else b""
    return Watch(tree.path, taken, paths, times, places, request)


def _is_plain(private: PrivateIndex, state: State) -> bool:
    """Whether a snapshot depends on nothing that git judges by more than stat data."""
    is_whole = not (state.merge or state.unmerged or state.nested or omitted.find_losses(state.omitted))
    return is_whole and not omitted.cache_names(state.omitted) and not private.view.is_enabled("sparsecheckout")


def _notes_changes(device: int) -> bool:
    """Whether a file system is known to note the time of each change."""
    name = f"{os.major(device)}:{os.minor(device)}"
    try:
        mounts = [line.split() for line in _MOUNTS.read_text("utf-8", "surrogateescape").splitlines()]
    except OSError:
        return False
    # After a varying number of fields comes a dash, and then the type.
    return any(words[2] == name and words[words.index("-") + 1] in FILE_SYSTEMS for words in mounts)


def _has_plain_refs(view: GitFolders, refs: list[str]) -> bool:
    """Whether refs are files of their own that name commits, or are packed."""
    loose = [path.read_bytes() for name in refs if (path := view.common / name).is_file()]
    return all(map(_LOOSE.fullmatch, loose)) and not (view.common / "reftable").exists()


def _list_places(private: PrivateIndex, tree: Tree, refs: list[str]) -> Iterator[str]:
    """Yield the files and folders of git on which a snapshot depends."""
    own, common = private.own, private.view.common
    yield from map(str, (own, *(own / name for name in ("HEAD", "index", "gitdir", "commondir"))))
    yield from map(str, (common / name for name in (*refs, "packed-refs")))
    yield from () if tree.owned else list_sources(private.view)


def _list_paths(private: PrivateIndex) -> list[bytes] | None:
    """List the files of a snapshot, the folders git searched, and the rule files; None where git has to decide."""
    entries = split(private.git.out("ls-files", "-s", "-z"))
    if len(entries) > MAX_FILES or any(entry.startswith(_GITLINK) for entry in entries):
        return None
    files = [entry.partition(b"\t")[2] for entry in entries]
    filled = {b""}
    for path in files:
        while (path := path.rpartition(b"/")[0]) not in filled:
            filled.add(path)
    folders: set[bytes] = set()
    rules: set[bytes] = set()
    pending = [b""]
    while pending:
        folder = pending.pop()
        listed = _look_into(os.fsencode(private.git.where), folder, private.ignored)
        if listed is None or (listed.is_unsure and folder not in filled) or len(folders) > MAX_FILES:
            return None
        folders.add(folder)
        pending += listed.folders
        rules.update(listed.rules)
    # Files of the snapshot in ignored folders are left to git.
    return [b".", b".git", *sorted({*files, *rules, *folders} - {b""})] if filled <= folders else None


@frozen
class _Listed:
    """The entries of a folder that matter."""

    folders: list[bytes]
    rules: list[bytes]
    is_unsure: bool
    """Whether it has no file of its own, and an ignored folder that may or may not have some."""


def _look_into(root: bytes, folder: bytes, ignored: Container[bytes]) -> _Listed | None:
    """List a folder; None where it is a repository of its own, or cannot be read."""
    start = folder + b"/" if folder else b""
    try:
        with os.scandir(root + b"/" + folder) as entries:
            kinds = {start + entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
    except OSError:
        return None
    if kinds.pop(start + b".git", None) is not None and folder:
        return None
    files = [path for path, is_folder in kinds.items() if not is_folder]
    folders = [path for path, is_folder in kinds.items() if is_folder and path + b"/" not in ignored]
    has_ignored = len(files) + len(folders) < len(kinds)
    return _Listed(folders, list(filter(is_rule_file, files)), is_unsure=has_ignored and not files)


def _read_stat_data(root: str, paths: Iterable[bytes]) -> list[os.stat_result]:
    """Read the stat data of files and folders; empty where one is missing."""
    folder = os.open(root, _FOLDER)
    try:
        return [os.lstat(path, dir_fd=folder) for path in paths]
    except OSError:
        return []
    finally:
        os.close(folder)


def _sign(path: str) -> Signature:
    try:
        return _SIGNATURE(os.stat(path))  # noqa: PTH116 (several after each step: this is faster)
    except (OSError, ValueError):
        return ()
