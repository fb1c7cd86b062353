"""What a snapshot does not hold: repositories of their own, what is not committed in them, empty folders, new caches.

A nested repository is looked into like the work tree itself, through a view, so that no setting of its own is obeyed.
"""

import os
import stat
from hashlib import sha256
from pathlib import Path

from handrail.errors import WorkspaceFault
from handrail.frozen import frozen
from handrail.workspace.git.command import Git, shown, split
from handrail.workspace.git.data_places import copy_file, short
from handrail.workspace.git.repository_view import copy_view
from handrail.workspace.snapshots.rules import IGNORE_FILE, read_plain

_MOST_FOLDERS = 128
_GITLINK = b"\x00\x00\xe0\x00"
"""The mode of a nested repository, as an index holds it."""
_MARKS = (
    (b"CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55"),
    (b"pyvenv.cfg", b""),
    (IGNORE_FILE, b"# This .gitignore file was automatically created by Hypothesis."),
    (IGNORE_FILE, b"# Created by coverage.py"),
)
"""Files by which a folder tells, with how they begin, that it is a cache (bford.info/cachedir), a virtual environment,
or the folder of a tool that has no such mark and names itself where it ignores all that it writes."""
_CACHE = ": a cache that ignores itself"
_EMPTY = ": an empty folder"
_LOOK = ("status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=dirty")


@frozen
class LeftOut:
    """Folders of which a snapshot holds nothing, each with a slash at its end."""

    nested: list[bytes]
    empty: list[bytes]
    caches: list[bytes]


def listed(git: Git, found: LeftOut, folder: Path) -> tuple[str, ...]:
    """Describe what is left out, for people; `git` has our index, and the folder is ours."""
    texts = [f"{shown(path)}: a repository of its own" for path in found.nested]
    texts += [f"{shown(path)}: changes inside a submodule" for path in dirty(git, folder)]
    lossless = [f"{shown(path)}{_EMPTY}" for path in found.empty] + [f"{shown(path)}{_CACHE}" for path in found.caches]
    return (*sorted(texts), *sorted(lossless))


def stamps(where: Path, omitted: tuple[str, ...]) -> tuple[str, ...]:
    """Name the nested repositories of which something is left out, each with a stamp of its files behind a space."""
    paths = (text.rpartition(": ")[0].rstrip("/") for text in cannot_be_kept(omitted))
    return tuple(f"{path} {_stamp(where / path)}" for path in paths)


def _stamp(folder: Path) -> str:
    """Tell files from what they are after any change, without reading them: nobody can set the time of a change."""
    seen = sha256()
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(files):
            full = os.path.join(place, name)  # noqa: PTH118 (there may be many)
            found = os.lstat(full)
            told = (full, found.st_mode, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
            seen.update(repr(told).encode())
    return seen.hexdigest()[:16]


def cannot_be_kept(omitted: tuple[str, ...]) -> tuple[str, ...]:
    """Give those of what a snapshot omits that would be lost with the folder."""
    return tuple(text for text in omitted if not text.endswith((_EMPTY, _CACHE)))


def cache_names(omitted: tuple[str, ...]) -> list[str]:
    """Give the caches among what a snapshot omits."""
    return [text.removesuffix(_CACHE) for text in omitted if text.endswith(_CACHE)]


def cache_folders(git: Git, untracked: list[bytes], work: str) -> list[bytes]:
    """List the outermost folders that say they are caches, ignore all of themselves, and are not in a tree."""
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
    """Whether a file is there itself, no link, and begins as it must."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode) and read_plain(path).startswith(start)
    except OSError:
        return False


def _is_in(git: Git, work: str, folder: bytes) -> bool:
    """Whether a tree has anything in the place of a folder."""
    return not git.run("cat-file", "-e", f"{work}:{os.fsdecode(folder)}", ok=(0, 1, 128)).code


def dirty(git: Git, folder: Path) -> list[bytes]:
    """List the nested repositories among the files of an index in which something is not committed."""
    if git.index is None or not git.index.exists() or _GITLINK not in git.index.read_bytes():
        return []
    entries = split(git.out("ls-files", "-s", "-z"))
    links = [entry.partition(b"\t")[2] for entry in entries if entry.startswith(b"160000 ")]
    return [path for path in links if _has_work(git, path, folder / "nested")]


def empty_folders(git: Git) -> list[bytes]:
    """List the folders in which nothing is."""
    # Mostly there are none, and seeing that takes less time than git takes to start.
    if not _may_be_empty(git.where):
        return []
    listing = git.out("ls-files", "--others", "--directory", "--exclude-standard", "-z")
    return [path for path in split(listing) if path.endswith(b"/") and _holds_nothing(git.where, path)]


def _has_work(git: Git, path: bytes, folder: Path) -> bool:
    """Whether a nested repository holds something that is not committed; one that cannot be read may."""
    where = git.where / os.fsdecode(path)
    if where.is_symlink() or not os.path.lexists(where / ".git"):
        return False
    place = folder / short(where, 24)
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        view = copy_view(git.through, where, place / "view")
        inner = Git(where, view, held=git.held).with_index(place / "index")
        copy_index(inner, view.own / "index")
        return bool(inner.out(*_LOOK)) or bool(dirty(inner, place))
    except (WorkspaceFault, OSError):
        return True


def copy_index(git: Git, real: Path) -> None:
    """Start an index of ours from a real one, without its flags: they say of files that they need not be looked at."""
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
    """Whether a file that git is told to skip is there, or should be."""
    return not git.through.says("sparsecheckout") or os.path.lexists(os.fsencode(git.where) + b"/" + path)


def _holds_nothing(where: Path, path: bytes) -> bool:
    walk = os.walk(os.fsencode(where) + b"/" + path)
    return all(not files and b".git" not in folders for _, folders, files in walk)


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
