"""What the refs of a run say before a snapshot is taken: starting git is what a small snapshot costs.

A ref that has a file of its own is read there, as git reads it first; what its commit says is remembered, since no
commit ever says anything else. For all others (packed, or in a repository of another kind) git is asked.
"""

import re
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path

from handrail.frozen import frozen
from handrail.model.history.trees import Tree
from handrail.workspace.git.command import Git
from handrail.workspace.git.repositories import common_of
from handrail.workspace.snapshots.private_index import PrivateIndex
from handrail.workspace.snapshots.state import State, parsed, run_ref

MOST = 256
"""Commits that are remembered."""
_COMMIT = re.compile(r"([0-9a-f]{40}|[0-9a-f]{64})\n")
_BRANCH = re.compile(r"ref: (refs/heads/\S+)\n")


@frozen
class Known:
    """What the refs say."""

    ref: str
    """The branch that HEAD names, in full; empty when it is detached."""
    branch: str
    """The commit of the run's own branch."""
    tree: str
    """The files of that commit."""
    newest: str
    state: State | None
    """What the newest snapshot says."""

    @property
    def work(self) -> str:
        """The files of the newest snapshot, which its ref keeps."""
        return "" if self.state is None else self.state.work


class Commits:
    """What is remembered of commits."""

    def __init__(self) -> None:
        self._trees: dict[str, str] = {}
        self._states: dict[str, State] = {}

    def look(self, private: PrivateIndex, tree: Tree, run: str, aside: Executor) -> Callable[[], Known]:
        """Look at the refs of a run, aside where git has to be asked."""
        known = self._plain(private.own, tree, run)
        return aside.submit(self._ask, private.git, tree, run).result if known is None else lambda: known

    def remember(self, known: Known) -> None:
        """Remember what the commits say that refs name."""
        if len(self._trees) >= MOST:
            self._trees.clear()
            self._states.clear()
        self._trees[known.branch] = known.tree
        if known.state is not None:
            self._states[known.newest] = known.state

    def _plain(self, folder: Path, tree: Tree, run: str) -> Known | None:
        common = common_of(folder)
        newest = _commit(common / run_ref(run))
        branch = _commit(common / "refs/heads" / tree.branch) if tree.branch else ""
        ref = _head(folder / "HEAD")
        state, files = self._states.get(newest or ""), self._trees.get(branch or "")
        if not newest or state is None or branch is None or files is None or ref is None:
            return None
        return Known(ref, branch, files, newest, state)

    def _ask(self, git: Git, tree: Tree, run: str) -> Known:
        home, newest = f"refs/heads/{tree.branch}", run_ref(run)
        form = "--format=%(HEAD)%00%(refname)%00%(objectname)%00%(tree)%00%(contents)%00"
        fields = git.line("for-each-ref", form, *((home, newest) if tree.branch else (newest,))).split("\0")
        rows = {ref: (mark.strip("\n"), *rest) for mark, ref, *rest in zip(*[iter(fields)] * 5, strict=False)}
        mark, branch, files, _ = rows.get(home, ("", "", "", ""))
        ref = home if mark == "*" else git.asks("symbolic-ref", "-q", "HEAD") or ""
        _, commit, _, says = rows.get(newest, ("", "", "", ""))
        known = Known(ref, branch, files, commit, parsed(says) if commit else None)
        self.remember(known)
        return known


def _commit(path: Path) -> str | None:
    """Give the commit in the file of a ref; None where there is no such file, or it says something else."""
    found = _COMMIT.fullmatch(_text(path))
    return found[1] if found else None


def _head(path: Path) -> str | None:
    """Give the branch that HEAD names, none where it names a commit; None where it is not plain."""
    text = _text(path)
    found = _BRANCH.fullmatch(text)
    return found[1] if found else "" if _COMMIT.fullmatch(text) else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""
