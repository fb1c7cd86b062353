"""HEAD and branches of an owned worktree: restored, while every other branch stays where its owner has it."""

import os
import shutil
from pathlib import Path

from handrail.errors import WorkspaceFault
from handrail.model.history.trees import Tree
from handrail.workspace.git.command import Git
from handrail.workspace.git.repositories import branches, git_dir
from handrail.workspace.snapshots.state import State

_HEADS = "refs/heads/"
_PROGRESS = (
    *("MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "MERGE_RR", "AUTO_MERGE", "SQUASH_MSG"),
    *("CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "BISECT_LOG", "BISECT_START", "BISECT_NAMES"),
    *("sequencer", "rebase-merge", "rebase-apply"),
)


def put_back(git: Git, tree: Tree, target: State) -> None:
    """Restore the run's branch and HEAD to those of a snapshot; end operations in progress, resume its merge."""
    if target.branch:
        move(git, tree, tree.branch, target.branch)
    end_progress(git)
    home = target.ref == f"{_HEADS}{target.home}"
    name = tree.branch if home else target.ref.removeprefix(_HEADS)
    if target.ref and (home or _follow(git, tree, name, target.head)):
        attach(git, name)
    else:
        git.out("update-ref", "--no-deref", "HEAD", target.head)
    if target.merge:
        remember_merge(git, target.merge, "Merge")


def attach(git: Git, branch: str) -> None:
    """Make HEAD name a branch."""
    git.out("symbolic-ref", "HEAD", f"{_HEADS}{branch}")


def move(git: Git, tree: Tree, branch: str, commit: str) -> None:
    """Move a branch, unless it is checked out somewhere else."""
    place = find_other_worktree(git, tree, branch)
    if place:
        message = f"the branch {branch} is checked out in {place}, so it cannot be moved"
        raise WorkspaceFault(message, next_step=f"check out another branch there: git -C {place} switch BRANCH")
    git.out("update-ref", f"{_HEADS}{branch}", commit)


def find_other_worktree(git: Git, tree: Tree, branch: str) -> str:
    """Return the other worktree that has a branch checked out; empty if there is none."""
    found = (one.worktree for one in branches(git, f"{_HEADS}{branch}") if one.name == branch)
    return next((place for place in found if place and Path(place).resolve() != Path(tree.path).resolve()), "")


def remember_merge(git: Git, commits: tuple[str, ...], message: str) -> None:
    """Write the files that git itself writes when a merge stops for a person."""
    folder = git_dir(git.where)
    (folder / "MERGE_MSG").write_text(message + "\n", encoding="utf-8")
    (folder / "MERGE_MODE").write_text("no-ff", encoding="ascii")
    (folder / "MERGE_HEAD").write_text("".join(f"{commit}\n" for commit in commits), encoding="ascii")


def read_merge_heads(git: Git) -> tuple[str, ...]:
    """Return the commits that a merge in progress brings in."""
    note = git_dir(git.where) / "MERGE_HEAD"
    return tuple(note.read_text(encoding="ascii").split()) if note.exists() else ()


def end_progress(git: Git) -> None:
    """Abandon a merge, rebase, cherry-pick or bisection that was left unfinished."""
    folder = git_dir(git.where)
    for name in _PROGRESS:
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _follow(git: Git, tree: Tree, branch: str, commit: str) -> bool:
    """Move a branch that the agent made to a commit; False if somebody else moved it or has it checked out."""
    now = git.query("rev-parse", "--verify", "-q", f"{_HEADS}{branch}") or ""
    if find_other_worktree(git, tree, branch):
        return False
    if now == commit:
        return True
    if now and now not in _read_reflog(git):
        return False
    words = (f"{_HEADS}{branch}", commit) if commit else ("-d", f"{_HEADS}{branch}")
    git.out("update-ref", *words)
    return True


def _read_reflog(git: Git) -> set[str]:
    """Return the commits that HEAD of this worktree has pointed to: what a branch got from here is among them."""
    try:
        log = (git_dir(git.where) / "logs/HEAD").read_bytes()
    except OSError:
        return set()
    return {os.fsdecode(line.split(b" ", 2)[1]) for line in log.splitlines() if line.count(b" ") > 1}
