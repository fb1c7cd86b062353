"""Whether the work of a branch has arrived in another, even if it was squashed or picked."""

from handrail.workspace.commits.merge_trees import is_ancestor, merge_trees
from handrail.workspace.git.command import Git


def has_arrived(git: Git, branch: str, base: str) -> bool:
    """Whether a base holds everything that a branch brings: by ancestry, by content, or by patch."""
    git = git.without_index()
    if is_ancestor(git, branch, base):
        return True
    fork = git.query("merge-base", base, branch)
    if fork is None:
        return False
    return (
        _is_empty_merge(git, branch, base)
        or _is_cherry_picked(git, branch, base)
        or _is_squashed(git, branch, base, fork)
    )


def _is_empty_merge(git: Git, branch: str, base: str) -> bool:
    found = merge_trees(git, base, branch)
    return not found.files and found.tree == git.line("rev-parse", f"{base}^{{tree}}")


def _is_cherry_picked(git: Git, branch: str, base: str) -> bool:
    lines = git.line("cherry", base, branch).splitlines()
    merges = git.line("rev-list", "--merges", "--max-count=1", f"{base}..{branch}")
    return not merges and all(line.startswith("-") for line in lines)


def _is_squashed(git: Git, branch: str, base: str, fork: str) -> bool:
    one = git.line("commit-tree", f"{branch}^{{tree}}", "-p", fork, stdin=b"All of it\n")
    return git.line("cherry", base, one).startswith("-")
