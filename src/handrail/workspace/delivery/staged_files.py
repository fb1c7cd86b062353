"""Files of a tree prepared in a separate folder, as git would check them out."""

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from handrail.workspace.git.command import Git, split

_GITLINK = b"160000"


def list_changed_files(git: Git, old: str, new: str) -> list[str]:
    """List the files that differ; submodules are left to the user."""
    fields = iter(git.out("diff-tree", "-r", "-z", "--raw", "--no-renames", old, new).split(b"\0"))
    rows = [(field.split(b" "), next(fields)) for field in fields if field.startswith(b":")]
    return [os.fsdecode(path) for words, path in rows if _GITLINK not in (words[0].lstrip(b":"), words[1])]


def stage(git: Git, folder: Path, tree: str, paths: Iterable[str]) -> None:
    """Write files of a tree into a folder of ours, with the filters and attributes with which git checks them out."""
    unstage(folder)
    folder.mkdir(mode=0o700, parents=True)
    wanted = {name for path in paths for name in _attribute_paths(path)}
    listing = split(git.out("ls-tree", "-r", "-z", "--full-tree", tree))
    lines = [_index_line(row) for row in listing if row.partition(b"\t")[2] in wanted and _is_usable(git, row)]
    index = folder.with_suffix(".index")
    own = git.with_index(index)
    if lines:
        own.out("update-index", "-z", "--index-info", stdin=b"".join(lines))
        # A file of the run is written even if it is outside the sparse patterns of the checkout.
        words = ("-c", "core.sparseCheckout=false", f"--work-tree={folder}", "read-tree", "--reset", "-u")
        own.out(*words, own.line("write-tree"))
    index.unlink(missing_ok=True)


def unstage(folder: Path) -> None:
    """Remove the prepared files, and what a process left that died while it prepared them."""
    index = folder.with_suffix(".index")
    for left in (index, index.with_suffix(".index.lock")):
        left.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _attribute_paths(path: str) -> Iterator[bytes]:
    """Yield a file and the attribute files of the same tree that decide how it is checked out."""
    yield os.fsencode(path)
    yield from (os.fsencode(folder / ".gitattributes") for folder in PurePosixPath(path).parents)


def _is_usable(git: Git, row: bytes) -> bool:
    """Whether git can read a file; attributes that a partial clone lacks do not count, as nobody checked them out."""
    what, _, path = row.partition(b"\t")
    if path.rpartition(b"/")[2] != b".gitattributes" or not git.active_view.is_enabled("partial"):
        return True
    return not git.run("cat-file", "-e", what.split(b" ")[2].decode(), ok=(0, 1, 128)).code


def _index_line(row: bytes) -> bytes:
    what, _, path = row.partition(b"\t")
    mode, _, blob = what.split(b" ")
    return b"%s %s\t%s\0" % (mode, blob, path)
