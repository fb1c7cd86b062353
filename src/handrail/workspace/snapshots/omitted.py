"""What a snapshot does not hold: nested repositories, uncommitted files in them, empty folders, new caches.

A nested repository is examined like the worktree itself, through a view, so that its own settings have no effect.
"""

import os
import stat
from hashlib import sha256
from pathlib import Path

from handrail.errors import WorkspaceFault
from handrail.frozen import frozen
from handrail.workspace.git.command import Git, decode_path, split
from handrail.workspace.git.data_places import copy_file, hash_path
from handrail.workspace.git.repository_view import copy_view
from handrail.workspace.snapshots.rules import IGNORE_FILE, read_plain

_MAX_FOLDERS = 128
_GITLINK = b"\x00\x00\xe0\x00"
"""The mode of a nested repository in an index."""
_MARKS = (
    (b"CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55"),
    (b"pyvenv.cfg", b""),
    (IGNORE_FILE, b"# This .gitignore file was automatically created by Hypothesis."),
    (IGNORE_FILE, b"# Created by coverage.py"),
)
"""Files that mark a folder, with how they begin, as a cache (bford.info/cachedir), a virtual environment,
or the folder of a tool that has no such mark and names itself where it ignores everything that it writes.
"""
_CACHE = ": a cache that ignores itself"
_EMPTY = ": an empty folder"
_LOOK = ("status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=dirty")


@frozen
class OmittedFolders:
    """Folders of which a snapshot holds nothing, each with a trailing slash."""

    nested: list[bytes]
    empty: list[bytes]
    caches: list[bytes]


def describe_omitted(git: Git, found: OmittedFolders, folder: Path) -> tuple[str, ...]:
    """Describe what is left out, for people; `git` has our index, and the folder is ours."""
    texts = [f"{decode_path(path)}: a repository of its own" for path in found.nested]
    texts += [f"{decode_path(path)}: changes inside a submodule" for path in list_dirty_repositories(git, folder)]
    lossless = [f"{decode_path(path)}{_EMPTY}" for path in found.empty] + [
        f"{decode_path(path)}{_CACHE}" for path in found.caches
    ]
    return (*sorted(texts), *sorted(lossless))


def stamps(where: Path, omitted: tuple[str, ...]) -> tuple[str, ...]:
    """Return the nested repositories with something left out, each followed by a space and a stamp of its files."""
    paths = (text.rpartition(": ")[0].rstrip("/") for text in find_losses(omitted))
    return tuple(f"{path} {_stamp(where / path)}" for path in paths)


def _stamp(folder: Path) -> str:
    """Hash the stat data of files, without reading them: nobody can set the time of a change (ctime)."""
    seen = sha256()
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(files):
            full = os.path.join(place, name)  # noqa: PTH118 (there may be many)
            found = os.lstat(full)
            told = (full, found.st_mode, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
            seen.update(repr(told).encode())
    return seen.hexdigest()[:16]


def find_losses(omitted: tuple[str, ...]) -> tuple[str, ...]:
    """Return what a snapshot omits and would be lost with the folder."""
    return tuple(text for text in omitted if not text.endswith((_EMPTY, _CACHE)))


def cache_names(omitted: tuple[str, ...]) -> list[str]:
    """Return the caches among what a snapshot omits."""
    return [text.removesuffix(_CACHE) for text in omitted if text.endswith(_CACHE)]


def cache_folders(git: Git, untracked: list[bytes], work: str) -> list[bytes]:
    """List the outermost folders that are marked as caches, ignore all of their content, and are not in a tree."""
    marks = {IGNORE_FILE, *(name for name, _ in _MARKS)}
    parted = (path.rpartition(b"/") for path in untracked)
    folders = sorted({folder for folder, _, name in parted if folder and name in marks})
    found: list[bytes] = []
    for folder in folders:
        inside = any(folder.startswith(outer) for outer in found)
        if not inside and _is_cache(git.where, folder) and not _is_in(git, work, folder):
            found.append(folder + b"/")
    return found


def _is_cache(where: Path, folder: bytes) -> bool:
    place = os.fsencode(where) + b"/" + folder + b"/"
    rules = [line.strip() for line in read_plain(place + IGNORE_FILE).split(b"\n")]
    ignores_all = [line for line in rules if line and not line.startswith(b"#")] == [b"*"]
    return ignores_all and any(_is_marked(place + name, start) for name, start in _MARKS)


def _is_marked(path: bytes, start: bytes) -> bool:
    """Whether a regular file, not a link, exists and begins with some bytes."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode) and read_plain(path).startswith(start)
    except OSError:
        return False


def _is_in(git: Git, work: str, folder: bytes) -> bool:
    """Whether a tree has anything at the path of a folder."""
    return not git.run("cat-file", "-e", f"{work}:{os.fsdecode(folder)}", ok=(0, 1, 128)).code


def list_dirty_repositories(git: Git, folder: Path) -> list[bytes]:
    """List the nested repositories among the files of an index that have uncommitted changes."""
    if git.index is None or not git.index.exists() or _GITLINK not in git.index.read_bytes():
        return []
    entries = split(git.out("ls-files", "-s", "-z"))
    links = [entry.partition(b"\t")[2] for entry in entries if entry.startswith(b"160000 ")]
    return [path for path in links if _has_work(git, path, folder / "nested")]


def empty_folders(git: Git) -> list[bytes]:
    """List the empty folders."""
    # Usually there are none, and finding that out takes less time than starting git.
    if not _can_be_empty(git.where):
        return []
    listing = git.out("ls-files", "--others", "--directory", "--exclude-standard", "-z")
    return [path for path in split(listing) if path.endswith(b"/") and _is_empty(git.where, path)]


def _has_work(git: Git, path: bytes, folder: Path) -> bool:
    """Whether a nested repository has uncommitted changes; one that cannot be read may have some."""
    where = git.where / os.fsdecode(path)
    if where.is_symlink() or not os.path.lexists(where / ".git"):
        return False
    place = folder / hash_path(where, 24)
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        view = copy_view(git.active_view, where, place / "view")
        inner = Git(where, view, held=git.held).with_index(place / "index")
        copy_index(inner, view.own / "index")
        return bool(inner.out(*_LOOK)) or bool(list_dirty_repositories(inner, place))
    except (WorkspaceFault, OSError):
        return True


def copy_index(git: Git, real: Path) -> None:
    """Copy a real index to one of ours without its flags, which tell git not to look at files."""
    index = git.index
    if index is None:
        return
    copy_file(real, index)
    flagged = [entry for entry in split(git.out("ls-files", "-v", "-z")) if entry[:2] not in (b"H ", b"M ")]
    trusted = [entry[2:] for entry in flagged if entry[:1].islower()]
    skipped = [entry[2:] for entry in flagged if entry[:1] in b"Ss" and _is_looked_at(git, entry[2:])]
    for option, paths in (("--no-assume-unchanged", trusted), ("--no-skip-worktree", skipped)):
        if paths:
            git.out("update-index", "-z", option, "--stdin", stdin=b"\0".join(paths))


def _is_looked_at(git: Git, path: bytes) -> bool:
    """Whether a file that git is to skip exists, or should exist."""
    return not git.active_view.is_enabled("sparsecheckout") or os.path.lexists(os.fsencode(git.where) + b"/" + path)


def _is_empty(where: Path, path: bytes) -> bool:
    walk = os.walk(os.fsencode(where) + b"/" + path)
    return all(not files and b".git" not in folders for _, folders, files in walk)


def _can_be_empty(where: Path) -> bool:
    """Whether a folder below may be empty; True as well for many folders, or one that cannot be read."""
    folders = [str(where)]
    seen = 0
    while folders:
        seen += 1
        try:
            inside = list(os.scandir(folders.pop()))
        except OSError:
            return True
        if seen > _MAX_FOLDERS or not inside:
            return True
        folders += [each.path for each in inside if each.is_dir(follow_symlinks=False) and each.name != ".git"]
    return False
