"""Snapshots: HEAD, branch, index and files of a worktree in one commit below `refs/handrail/`, safe from gc.

The problem: a run can go back to any step, and must find the worktree as it was, including uncommitted and untracked
files, a conflicted index, a detached HEAD and a merge in progress. Taking a snapshot must change nothing that the agent
or the user sees, and an agent must not be able to hide a file from it. A snapshot is therefore one commit:

    tree      the files of the worktree, read through a private index (`private_index`); the real one is only read
    message   the rest of the state as JSON (`state.State`): HEAD, branch, index, merge, rules, what is omitted
    parents   the run's snapshot before it, HEAD, the branch, the commits of a merge, and one commit that holds the
              index: everything that only this worktree may refer to is reachable from the ref, so gc keeps it

It is safe for these reasons. Objects are written first and the ref is moved last, by compare-and-swap: a crash leaves
the previous snapshot and some unreferenced objects. The files after a step are examined by the ignore rules of the
snapshot before it (`rules`), so a step cannot ignore what it wrote. A state equal to the newest snapshot is that
snapshot, so taking one again after a crash is harmless. Before a restore overwrites anything, the current state is put
aside under `refs/handrail/kept/`. What no snapshot can hold (`omitted`) is listed in it.
"""

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from handrail.errors import WorkspaceFault
from handrail.model.history.trees import Tree
from handrail.ports.workspaces import Snapshot
from handrail.workspace.git.command import Git, split
from handrail.workspace.git.data_places import safe_name
from handrail.workspace.git.repositories import git_dir
from handrail.workspace.snapshots.index_memo import ComparisonBasis
from handrail.workspace.snapshots.private_index import PrivateIndex
from handrail.workspace.snapshots.state import REFS, Commits, RunRefs, State, message_of, parse_message, run_ref

_INDEX_TITLE = "Index of a work tree by Handrail"
_GITLINK = b"160000"
_IN_PROGRESS = (
    *("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "ORIG_HEAD"),
    *("rebase-merge/autostash", "rebase-merge/orig-head", "rebase-apply/autostash", "rebase-apply/orig-head"),
)


def list_kept_refs(git: Git, run: str) -> list[tuple[str, str]]:
    """List the refs under which work of a run was put aside, with their commits, oldest first."""
    listing = git.line("for-each-ref", "--format=%(refname) %(objectname)", f"{REFS}kept/{safe_name(run)}/")
    found = [(ref, commit) for ref, _, commit in (line.partition(" ") for line in listing.splitlines())]
    return sorted(found, key=lambda pair: int(pair[0].rpartition("/")[2]))


def capture(private: PrivateIndex, tree: Tree, run: str) -> State:
    """Read the state of a worktree; its objects are written, but nothing refers to them yet."""
    return _capture_state(private, tree, run, Commits())[0]


def basis_of(git: Git, commits: Commits, since: str) -> ComparisonBasis:
    """Return the basis by which files after a snapshot are examined."""
    state = (commits.state(since) or read(git, since)) if since else None
    return ComparisonBasis(state.rules, state.work) if state and state.rules else ComparisonBasis()


def take(private: PrivateIndex, tree: Tree, run: str, commits: Commits, since: str) -> Snapshot:
    """Put the state of a worktree on top of the run's snapshots; if it equals the newest, return that one.

    Files are examined by the rules of the snapshot `since`, or by those on disk where none is named.
    """
    git = private.plain
    state, known = _capture_state(private, tree, run, commits, basis_of(git, commits, since))
    before = known.state
    if before is not None and before == replace(state, pinned=before.pinned):
        return build_snapshot(known.newest, state)
    held = {known.tree} if state.head == known.branch else set[str]()
    held |= {before.index, before.rules, before.pinned} if before is not None else set()
    commit = write(git, state, (known.newest, *_parents(git, state)), held)
    git.out("update-ref", run_ref(run), commit, known.newest or "0" * len(commit))
    commits.remember(replace(known, newest=commit, state=state))
    return build_snapshot(commit, state)


def _capture_state(
    private: PrivateIndex, tree: Tree, run: str, commits: Commits, basis: ComparisonBasis | None = None
) -> tuple[State, RunRefs]:
    with ThreadPoolExecutor(1) as aside:
        look = commits.look(private, tree, run, aside)
        files, staged = private.follow(lambda: look().work, basis)
    known = look()
    state = State(
        run=run,
        head=files.head,
        ref=known.ref,
        home=tree.branch,
        branch=known.branch,
        merge=tuple(_words(private.own / "MERGE_HEAD")),
        index=staged.tree,
        work=files.tree,
        unmerged=private.plain.line("hash-object", "-w", "--stdin", stdin=staged.unmerged) if staged.unmerged else "",
        owned=tree.owned,
        omitted=files.omitted,
        nested=files.nested,
        rules=files.rules,
        pinned=files.pinned,
    )
    return state, known


def keep(git: Git, state: State) -> str:
    """Put a state aside under a ref of its own, unless one holds it already; return the ref."""
    known = [(run_ref(state.run), git.query("rev-parse", "--verify", "-q", run_ref(state.run)) or "")]
    kept = list_kept_refs(git, state.run)
    for ref, commit in known + kept[-1:]:
        found = read(git, commit) if commit else None
        if found is not None and found == replace(state, pinned=found.pinned):
            return ref
    return _put_aside(git, state.run, write(git, state, _parents(git, state)))


def keep_commit(git: Git, run: str, commit: str) -> str:
    """Put a commit aside under a ref, unless one of the run's holds it already; return that ref."""
    newest = git.query("rev-parse", "--verify", "-q", run_ref(run))
    known = [*reversed(list_kept_refs(git, run)), *([(run_ref(run), newest)] if newest else [])]
    for ref, holder in known:
        if not git.run("merge-base", "--is-ancestor", commit, holder, ok=(0, 1)).code:
            return ref
    return _put_aside(git, run, commit)


def _put_aside(git: Git, run: str, commit: str) -> str:
    kept = list_kept_refs(git, run)
    number = int(kept[-1][0].rpartition("/")[2]) + 1 if kept else 1
    ref = f"{REFS}kept/{safe_name(run)}/{number}"
    git.out("update-ref", ref, commit, "0" * len(commit))
    return ref


def load(git: Git, snapshot: str) -> State:
    """Read a snapshot; any other commit is refused."""
    state = read(git, snapshot)
    if state is None:
        message = f"`{snapshot}` is not a snapshot in {git.where}"
        raise WorkspaceFault(message, next_step="use a snapshot of a run of this repository")
    return state


def read(git: Git, commit: str) -> State | None:
    """Read a snapshot; None for any other commit."""
    ran = git.run("cat-file", "commit", commit, ok=(0, 128))
    return None if ran.code else parse_message(ran.out.partition(b"\n\n")[2].decode(errors="replace"))


def write(git: Git, state: State, parents: tuple[str, ...], held: Collection[str] = ()) -> str:
    """Write the commit of a state, with the files of the worktree; `held` is what the parents preserve already."""
    rules = {state.rules, state.pinned} - {"", *held}
    if state.unmerged or rules or state.index not in (state.work, *held):
        parents = (*parents, _index_commit(git, state))
    chosen = [word for parent in dict.fromkeys(parents) if parent for word in ("-p", parent)]
    return git.line("commit-tree", state.work, *chosen, stdin=message_of(state))


def _index_commit(git: Git, state: State) -> str:
    """Write a commit that only preserves the content of the index."""
    entries = [f"040000 tree {state.index}\tindex"]
    if state.unmerged:
        entries += [f"040000 tree {_stages(git, state.unmerged)}\tstages", f"100644 blob {state.unmerged}\tunmerged"]
    named = {"rules": state.rules, "pinned": state.pinned}
    entries += [f"100644 blob {blob}\t{name}" for name, blob in named.items() if blob]
    return git.line("commit-tree", git.line("mktree", stdin="\n".join(entries).encode()), stdin=_INDEX_TITLE.encode())


def build_snapshot(commit: str, state: State) -> Snapshot:
    """Convert a state to the snapshot of the port."""
    return Snapshot(commit, state.work, state.head, state.omitted)


def _parents(git: Git, state: State) -> tuple[str, ...]:
    """Return all commits that only this worktree may refer to, including those that rebases and merges put aside."""
    folder = git_dir(git.where)
    loose = [word for name in _IN_PROGRESS for word in _words(folder / name)] if state.owned else []
    sure = (state.head, state.branch, *state.merge)
    found = [commit for commit in loose if commit not in sure and _is_commit(git, commit)]
    return (*sure, *found)


def _is_commit(git: Git, name: str) -> bool:
    return not git.run("cat-file", "-e", f"{name}^{{commit}}", ok=(0, 1, 128)).code


def _stages(git: Git, unmerged: str) -> str:
    entries = {line.split(b"\t")[0].rsplit(b" ", 1)[0] for line in split(git.out("cat-file", "blob", unmerged))}
    blobs = sorted({entry.split(b" ")[1] for entry in entries if not entry.startswith(_GITLINK)})
    return git.line("mktree", stdin=b"".join(b"100644 blob %s\t%s\n" % (blob, blob) for blob in blobs))


def _words(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii", errors="replace").split()
    except OSError:
        return []
