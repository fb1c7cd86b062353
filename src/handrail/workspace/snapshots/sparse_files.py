"""Files that a worktree leaves out by its sparse patterns: they exist only as entries of indexes.

The patterns of a worktree of ours, and what it left out when it was made, are stored beside our index: an agent may
write others, and what a run wrote itself outside of them is restored with its files.
"""

import os
from pathlib import Path

from handrail.workspace.git.command import Git, split
from handrail.workspace.git.data_places import KNOWN_PATTERNS, replace_file

_LEFT_OUT = "left-out"


def remember(git: Git, folder: Path, patterns: Path) -> None:
    """Store the patterns of a worktree, and what they leave out."""
    replace_file(folder / KNOWN_PATTERNS, patterns.read_bytes())
    replace_file(folder / _LEFT_OUT, b"\0".join(sorted(_list_skipped(git))))


def write_own(git: Git, folder: Path) -> None:
    """Write the files outside the patterns that were not left out when the worktree was made."""
    known = folder / _LEFT_OUT
    if not known.exists():
        return
    written = _list_skipped(git) - set(split(known.read_bytes()))
    paths = b"\0".join(sorted(entry.partition(b"\t")[2] for entry in written))
    if paths:
        git.out("update-index", "-z", "--no-skip-worktree", "--stdin", stdin=paths)
        git.out("checkout-index", "-z", "--force", "--index", "--stdin", stdin=paths)


def follow(git: Git, real: Git, folder: Path, patterns: Path) -> list[bytes]:
    """Take over what the real index has outside the patterns, and remember it; return the paths that are new."""
    found = _follow_left_out(git, real, patterns)
    known = folder / _LEFT_OUT
    if found and known.exists():
        replace_file(known, b"\0".join(sorted({*split(known.read_bytes()), *found})))
    return [entry.partition(b"\t")[2] for entry in found]


def _list_skipped(git: Git) -> set[bytes]:
    """List the entries of files that a worktree leaves out, with mode and blob."""
    return {entry[2:] for entry in split(git.out("ls-files", "-t", "--stage", "-z")) if entry.startswith(b"S ")}


def _follow_left_out(git: Git, real: Git, patterns: Path) -> set[bytes]:
    """Take over what a merge or a checkout changed outside the sparse patterns; return the new entries.

    These have no files, so only the real index knows them: a file that exists, or that the patterns include, is
    examined itself.
    """
    known, now = _list_skipped(git), _list_skipped(real)
    paths = {each.partition(b"\t")[2] for each in known}
    inside = set(split(real.out("ls-files", "-z", "--cached", "--ignored", f"--exclude-from={patterns}")))
    held = inside | set(split(git.out("ls-files", "-z", "--cached"))) - paths
    root = os.fsencode(git.where) + b"/"
    named = {each: each.partition(b"\t")[2] for each in now - known}
    fresh = {each for each, path in named.items() if path not in held and not os.path.lexists(root + path)}
    gone = paths - set(split(real.out("ls-files", "-z", "--cached")))
    lines = [b"0 %s\t%s\0" % (b"0" * 40, path) for path in sorted(gone)] + [each + b"\0" for each in sorted(fresh)]
    if lines:
        git.out("update-index", "-z", "--index-info", stdin=b"".join(lines))
    if fresh:
        skipped = b"\0".join(sorted(named[each] for each in fresh))
        git.out("update-index", "-z", "--skip-worktree", "--stdin", stdin=skipped)
    return fresh | {b"\t" + path for path in gone}
