"""Restores an owned worktree to a snapshot, after its current state was saved."""

import os
from dataclasses import replace
from pathlib import Path

from handrail.errors import WorkspaceFault
from handrail.model.history.trees import Tree
from handrail.workspace.git.command import Git, decode_path, split
from handrail.workspace.git.data_places import DataLayout, read_json, write_json
from handrail.workspace.git.folder_users import clear_stale_locks
from handrail.workspace.git.repositories import git_dir
from handrail.workspace.snapshots.heads import put_back
from handrail.workspace.snapshots.index_memo import ComparisonBasis
from handrail.workspace.snapshots.private_index import PrivateIndex
from handrail.workspace.snapshots.state import State
from handrail.workspace.snapshots.take import capture, keep, load

MERGE_JOURNAL = "merging.json"
"""The journal of an interrupted merge, which a restore makes void."""
_JOURNAL = "restoring.json"
_NEXT = "handrail-index"
_NOWHERE = b"0 0000000000000000000000000000000000000000\t"


def restore(places: DataLayout, tree: Tree, run: str, snapshot: str) -> str:
    """Restore files, index, branch and HEAD; return the ref of the state before, if anything changed."""
    if not tree.owned:
        message = f"{tree.path} is the user's own checkout, which is never overwritten"
        raise WorkspaceFault(message, next_step="start the run in its own worktree to be able to rewind it")
    path = Path(tree.path)
    with places.lock(path) as lock:
        git = places.git(path).with_locks(lock)
        clear_stale_locks(path, tree.branch)
        private = PrivateIndex(git, places.private_folder(path))
        return _restore(private.plain, private, tree, (run, snapshot))


def put_files(git: Git, private: PrivateIndex, target: State) -> None:
    """Make files and index those of a state; the private index must match the files already."""
    private.forget()
    private.pin(target.pinned)
    private.restore_patterns()
    private.check_out(target.work)
    put_index(git, private, target)


def put_index(git: Git, private: PrivateIndex, target: State) -> None:
    """Replace the real index by that of a state, with the stat data of the private one."""
    folder = git_dir(git.where)
    draft = folder / _NEXT
    draft.with_name(f"{_NEXT}.lock").unlink(missing_ok=True)
    draft.write_bytes(private.path.read_bytes())
    times = private.path.stat()
    os.utime(draft, ns=(times.st_atime_ns, times.st_mtime_ns))
    with_draft = git.with_index(draft)
    with_draft.out("read-tree", "-m", target.index)
    if target.unmerged:
        stages = git.out("cat-file", "blob", target.unmerged)
        with_draft.out("update-index", "-z", "--index-info", stdin=stage_lines(stages))
    draft.replace(folder / "index")


def stage_lines(unmerged: bytes) -> bytes:
    """Build the input for `update-index --index-info` that makes paths conflicted."""
    entries = split(unmerged)
    paths = dict.fromkeys(entry.partition(b"\t")[2] for entry in entries)
    return b"".join(_NOWHERE + path + b"\0" for path in paths) + b"".join(entry + b"\0" for entry in entries)


def _restore(git: Git, private: PrivateIndex, tree: Tree, wanted: tuple[str, str]) -> str:
    run, snapshot = wanted
    target = load(git, snapshot)
    journal = private.path.with_name(_JOURNAL)
    now = capture(private, tree, run)
    kept = _find_interrupted(journal, snapshot)
    if kept is None:
        if _is_same(now, target, tree):
            return ""
        kept = keep(git, _add_obstacles(git, private, now, target))
        write_json(journal, {"snapshot": snapshot, "kept": kept})
    private.path.with_name(MERGE_JOURNAL).unlink(missing_ok=True)
    put_files(git, private, target)
    put_back(git, tree, target)
    private.rebase(ComparisonBasis(target.rules, target.work) if target.rules else ComparisonBasis())
    journal.unlink(missing_ok=True)
    return kept


def _find_interrupted(journal: Path, snapshot: str) -> str | None:
    """Return the ref that saves the state before, if a restore to this snapshot was begun and interrupted."""
    match read_json(journal):
        case {"snapshot": str(aim), "kept": str(kept)} if aim == snapshot:
            return kept
        case _:
            return None


def _is_same(now: State, target: State, tree: Tree) -> bool:
    moved = target.ref == f"refs/heads/{target.home}"
    wished = replace(target, run=now.run, home=now.home, owned=now.owned, omitted=now.omitted, nested=now.nested)
    wished = replace(wished, rules=now.rules, pinned=now.pinned)
    return now == (replace(wished, ref=f"refs/heads/{tree.branch}") if moved else wished)


def _add_obstacles(git: Git, private: PrivateIndex, now: State, target: State) -> State:
    """Add the ignored files at paths where the snapshot has others: they would be overwritten."""
    listing = git.out("diff-tree", "-r", "-z", "--name-only", "--diff-filter=A", now.work, target.work)
    root = os.fsencode(git.where)
    found = dict.fromkeys(path for new in split(listing) for path in _obstacles(root, new))
    return replace(now, work=private.add(list(found))) if found else now


def _obstacles(root: bytes, path: bytes) -> list[bytes]:
    parts = path.split(b"/")
    for count in range(1, len(parts) + 1):
        there = b"/".join(parts[:count])
        full = root + b"/" + there
        if not os.path.lexists(full):
            return []
        if os.path.islink(full) or not os.path.isdir(full):  # noqa: PTH112, PTH114 - names that are not text
            return [there]
    return _files_below(root, path)


def _files_below(root: bytes, path: bytes) -> list[bytes]:
    found: list[bytes] = []
    for folder, folders, files in os.walk(root + b"/" + path):
        if b".git" in (*folders, *files):
            message = f"there is a nested repository at {decode_path(path)}, where the snapshot has a file"
            raise WorkspaceFault(message, next_step="move it elsewhere, then try again", files=(decode_path(path),))
        found += [os.path.relpath(folder + b"/" + name, root) for name in files]
    return found
