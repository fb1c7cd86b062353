"""Three-way merges of trees in the object store only: no worktree, no hooks, no drivers of the repository."""

import os
from dataclasses import replace

from handrail.frozen import frozen
from handrail.workspace.git.command import Git, decode_path

_TEXT_MERGE = "git merge-file -q --marker-size=%L -L ours -L base -L theirs %A %O %B"


@frozen
class MergedTrees:
    """The merged tree; with conflicts its files contain markers."""

    tree: str
    files: tuple[str, ...] = ()
    """The files in conflict."""
    stages: bytes = b""
    """Their entries, as `git ls-files --unmerged -z` prints them."""
    message: str = ""


def merge_trees(git: Git, ours: str, theirs: str) -> MergedTrees:
    """Merge two commits."""
    ran = _disable_merge_drivers(git).run("merge-tree", "--write-tree", "-z", ours, theirs, ok=(0, 1))
    tree, _, rest = ran.out.partition(b"\0")
    if not ran.code:
        return MergedTrees(tree.decode().strip())
    stages, _, messages = rest.partition(b"\0\0")
    paths = dict.fromkeys(decode_path(entry.partition(b"\t")[2]) for entry in stages.split(b"\0"))
    texts = [decode_path(text).strip() for text in messages.split(b"\0") if text.startswith(b"CONFLICT")]
    return MergedTrees(tree.decode(), tuple(paths), stages + b"\0", "; ".join(dict.fromkeys(texts)))


def merge_three_way(git: Git, base: str, ours: str, theirs: str) -> MergedTrees:
    """Merge two trees that come from a common third."""
    root = _wrap_in_commit(git, base)
    return merge_trees(git, _wrap_in_commit(git, ours, root), _wrap_in_commit(git, theirs, root))


def is_ancestor(git: Git, old: str, new: str) -> bool:
    """Whether a commit is contained in another."""
    return not git.run("merge-base", "--is-ancestor", old, new, ok=(0, 1)).code


def _wrap_in_commit(git: Git, tree: str, *parents: str) -> str:
    words = [word for parent in parents for word in ("-p", parent)]
    return git.line("commit-tree", tree, *words, stdin=b"A tree to merge\n")


def _disable_merge_drivers(git: Git) -> Git:
    """Make every merge driver of the repository do what git does with text."""
    found = git.run("config", "-z", "--name-only", "--get-regexp", r"^merge\..*\.driver$", ok=(0, 1)).out
    names = [name for name in os.fsdecode(found).split("\0") if name and "=" not in name]
    return replace(git, settings=(*git.settings, *(f"{name}={_TEXT_MERGE}" for name in names)))
