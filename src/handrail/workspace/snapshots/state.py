"""What a snapshot contains, how its commit encodes it, and what the refs of a run say before one is taken.

Most of the cost of a small snapshot is starting git. A ref that has a file of its own is read there, as git does
first; the content of its commit is cached, since commits never change. For all others (packed, or in a repository of
another format) git is run.
"""

import json
import re
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import fields
from pathlib import Path
from typing import cast

from handrail.frozen import frozen
from handrail.model.history.trees import Tree
from handrail.workspace.git.command import Git
from handrail.workspace.git.data_places import safe_name
from handrail.workspace.snapshots.private_index import PrivateIndex

REFS = "refs/handrail/"
MAX_SNAPSHOTS = 256
"""How many commits are cached."""
_TITLE = "Snapshot of a work tree by Handrail"
_COMMIT = re.compile(r"([0-9a-f]{40}|[0-9a-f]{64})\n")
_BRANCH = re.compile(r"ref: (refs/heads/\S+)\n")


@frozen(kw_only=True)
class State:
    """Everything that a snapshot records."""

    run: str
    head: str
    ref: str
    """The branch that HEAD names, in full; empty when it is detached."""
    home: str
    """The name of the run's own branch."""
    branch: str
    """The commit of the run's own branch."""
    merge: tuple[str, ...]
    """The commits that a merge in progress brings in."""
    index: str
    work: str
    unmerged: str
    """The blob that lists the entries of a conflicted index."""
    owned: bool
    omitted: tuple[str, ...]
    nested: tuple[str, ...] = ()
    """Nested repositories of which something is omitted, each followed by a space and a stamp of its files."""
    rules: str = ""
    """The blob of the rules by which git ignores and converts files; empty in snapshots of older versions."""
    pinned: str = ""
    """The blob of the rules by which the snapshot was taken: those of the snapshot before the step."""


def run_ref(run: str) -> str:
    """Return the ref of a run's snapshots."""
    return f"{REFS}{safe_name(run)}"


def message_of(state: State) -> bytes:
    """Build the message of a snapshot's commit."""
    named = {each.name: getattr(state, each.name) for each in fields(State)}
    return f"{_TITLE}\n\n{json.dumps(named)}\n".encode()


def parse_message(message: str) -> State | None:
    """Parse the message of a commit; None where it is not a snapshot."""
    title, _, body = message.partition("\n\n")
    if title != _TITLE:
        return None
    data = cast("dict[str, object]", json.loads(body))
    data |= {name: tuple(cast("list[str]", data.get(name, ()))) for name in ("merge", "omitted", "nested")}
    return State(**cast("dict[str, str]", data))  # pyright: ignore[reportArgumentType] - written by `message_of`


@frozen
class RunRefs:
    """What the refs of a run say."""

    ref: str
    """The branch that HEAD names, in full; empty when it is detached."""
    branch: str
    """The commit of the run's own branch."""
    tree: str
    """The tree of that commit."""
    newest: str
    state: State | None
    """The state that the newest snapshot records."""

    @property
    def work(self) -> str:
        """The files of the newest snapshot, which its ref preserves."""
        return "" if self.state is None else self.state.work


class Commits:
    """A cache of what commits contain."""

    def __init__(self) -> None:
        self._trees: dict[str, str] = {}
        self._states: dict[str, State] = {}

    def look(self, private: PrivateIndex, tree: Tree, run: str, aside: Executor) -> Callable[[], RunRefs]:
        """Read the refs of a run, in the given executor where git has to be run."""
        known = self._recall(private, tree, run)
        return aside.submit(self._ask, private.git, tree, run).result if known is None else lambda: known

    def remember(self, known: RunRefs) -> None:
        """Add the commits that refs name to the cache."""
        if len(self._trees) >= MAX_SNAPSHOTS:
            self._trees.clear()
            self._states.clear()
        self._trees[known.branch] = known.tree
        if known.state is not None:
            self._states[known.newest] = known.state

    def state(self, commit: str) -> State | None:
        """Return the cached state of a snapshot."""
        return self._states.get(commit)

    def _recall(self, private: PrivateIndex, tree: Tree, run: str) -> RunRefs | None:
        folder, common = private.own, private.view.common
        newest = _commit(common / run_ref(run))
        branch = _commit(common / "refs/heads" / tree.branch) if tree.branch else ""
        # The branch that HEAD names, empty where it names a commit; None where it has another form.
        text = _text(folder / "HEAD")
        found = _BRANCH.fullmatch(text)
        ref = found[1] if found else "" if _COMMIT.fullmatch(text) else None
        state, files = self._states.get(newest or ""), self._trees.get(branch or "")
        if not newest or state is None or branch is None or files is None or ref is None:
            return None
        return RunRefs(ref, branch, files, newest, state)

    def _ask(self, git: Git, tree: Tree, run: str) -> RunRefs:
        home, newest = f"refs/heads/{tree.branch}", run_ref(run)
        form = "--format=%(HEAD)%00%(refname)%00%(objectname)%00%(tree)%00%(contents)%00"
        fields = git.line("for-each-ref", form, *((home, newest) if tree.branch else (newest,))).split("\0")
        rows = {ref: (mark.strip("\n"), *rest) for mark, ref, *rest in zip(*[iter(fields)] * 5, strict=False)}
        mark, branch, files, _ = rows.get(home, ("", "", "", ""))
        ref = home if mark == "*" else git.query("symbolic-ref", "-q", "HEAD") or ""
        _, commit, _, says = rows.get(newest, ("", "", "", ""))
        known = RunRefs(ref, branch, files, commit, parse_message(says) if commit else None)
        self.remember(known)
        return known


def _commit(path: Path) -> str | None:
    """Read the commit in the file of a ref; None where there is no such file, or it has another form."""
    found = _COMMIT.fullmatch(_text(path))
    return found[1] if found else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""
