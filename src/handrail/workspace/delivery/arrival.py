"""Whether the work of a run has arrived with the user: in a branch, or in the files of the checkout.

Work that was applied, picked, squashed or copied by hand shares no commit with the run. So it is compared file by
file: each one that the run changed must be in a branch as the run left it, or have been there since the run began.
"""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from handrail.workspace.delivery.apply import find_applied_changes
from handrail.workspace.git.command import Git
from handrail.workspace.git.data_places import DataLayout
from handrail.workspace.snapshots.changes import current_tree, files_of

Entry: TypeAlias = tuple[bytes, bytes]
"""Mode and object of a file."""
Entries: TypeAlias = dict[bytes, Entry]
_GONE: Entry = (b"000000", b"")
_MAX_COMMITS = 5000


def has_arrived_in_branch(git: Git, since: str, files: str, start: str, base: str) -> bool:
    """Whether the base of a run, or the branch that is checked out, has everything that differs between two trees."""
    changes = _entries(git, files_of(git, since), files)
    return not changes or any(_has_all(git, changes, start, branch) for branch in _branches(git, base))


def has_arrived_applied(places: DataLayout, git: Git, run: str, files: str, start: str) -> bool:
    """Whether the files of a run were applied to the checkout, and are still there or in its branch."""
    found = find_applied_changes(git, run)
    if found is None or found.brought != files:
        return False
    changes: Entries = {}
    for before, after in found.steps:
        changes |= _entries(git, before, after)
    if any(_has_all(git, changes, start, branch) for branch in _branches(git, "")):
        return True
    standing = current_tree(places, git.where)
    return not _find_missing(git, changes, standing)


def _branches(git: Git, base: str) -> Iterator[str]:
    head = git.query("symbolic-ref", "-q", "HEAD") or ""
    for ref in dict.fromkeys((f"refs/heads/{base}" if base else "", head)):
        if ref and git.query("rev-parse", "--verify", "-q", ref) is not None:
            yield ref


def _has_all(git: Git, changes: Mapping[bytes, Entry], start: str, branch: str) -> bool:
    missing = _find_missing(git, changes, f"{branch}^{{tree}}")
    if not missing:
        return True
    for path, entry in _history(git, start, branch):
        if missing.get(path) == entry:
            del missing[path]
    return not missing


def _find_missing(git: Git, changes: Mapping[bytes, Entry], tree: str) -> Entries:
    """Return the entries that a tree does not have."""
    listed = git.out("ls-tree", "-r", "-z", "--full-tree", tree).split(b"\0")
    there = {path: tuple(what.split(b" ")[::2]) for what, _, path in (row.partition(b"\t") for row in listed)}
    return {path: entry for path, entry in changes.items() if there.get(path, _GONE) != entry}


def _entries(git: Git, old: str, new: str) -> Entries:
    listing = git.out("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", old, new)
    return dict(_parse_raw_diff(listing))


def _history(git: Git, start: str, branch: str) -> Iterator[tuple[bytes, Entry]]:
    """Yield every file that the commits of a branch changed since a run began, as each of them left it."""
    words = ("--raw", "-z", "--no-renames", "--no-abbrev", "-m", f"--max-count={_MAX_COMMITS}", "--format=")
    known = not git.run("cat-file", "-e", f"{start}^{{commit}}", ok=(0, 1, 128)).code
    yield from _parse_raw_diff(git.out("log", *words, branch, *((f"^{start}",) if known else ()), "--"))


def _parse_raw_diff(listing: bytes) -> Iterator[tuple[bytes, Entry]]:
    fields = iter(listing.split(b"\0"))
    for field in fields:
        if field.lstrip(b"\n").startswith(b":"):
            _, mode, _, blob, _ = field.lstrip(b"\n").split(b" ")
            yield next(fields), _GONE if mode == _GONE[0] else (mode, blob)
