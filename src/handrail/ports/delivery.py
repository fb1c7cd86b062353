"""What happens to a run's work: pushed, applied to the checkout, merged, discarded; and what runs leave behind."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from handrail.frozen import frozen
from handrail.model.history.trees import Tree
from handrail.ports.workspaces import MergeResult, Workspaces

Life: TypeAlias = Literal["alive", "over", "unknown"]


@frozen(kw_only=True)
class Leftover:
    """Something that a run left behind."""

    kind: Literal["worktree", "branch", "snapshots", "lock"]
    run: str
    name: str
    """A path, a branch or a ref."""
    repository: str
    size: int = 0
    """Bytes on disk."""
    reasons: tuple[str, ...] = ()
    """Why it stays; empty if it may be removed."""


@frozen
class Retention:
    """How long refs are retained whose work has arrived elsewhere."""

    days: Callable[[str], int]
    """Days after the removal of a worktree, by the checkout of its repository."""
    now: float
    blame_days: Callable[[str], int] = lambda _: 0
    """Days for which the snapshots of steps stay at least, by the checkout of their repository."""


@frozen
class UnfinishedApply:
    """A change of the user's checkout that was interrupted."""

    run: str
    checkout: str
    undo: bool
    """Whether it was an undo."""

    @property
    def words(self) -> str:
        """Describe what was interrupted, and what to do."""
        what = "undoing" if self.undo else "applying"
        ways = f"handrail apply {self.run} finishes it, handrail apply {self.run} --undo reverts it"
        return f"{what} the changes of {self.run} in {self.checkout} was interrupted: {ways}"


@frozen(kw_only=True)
class PushRequest:
    """A push of a run's branch."""

    branch: str
    """The branch of the remote."""
    remote: str
    """The name of the remote in the run's repository."""
    message: str
    """The message of a merge commit, where one is needed to build upon what others pushed."""
    may_force: bool = False
    """Whether commits that we pushed ourselves, and that the run's branch no longer has, may be replaced."""
    token: str = field(default="", repr=False)
    """A token for the host of an http(s) remote, used if the user has no credential helper for it."""
    variables: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """The environment of the run, from which the variables that concern ssh, proxies and certificates are taken."""


@frozen(kw_only=True)
class Pushed:
    """The branch of the remote has everything of the run's branch."""

    commit: str
    previous: str = ""
    """What the branch of the remote was at before; empty if it did not exist."""
    how: Literal["created", "moved", "replaced", "unchanged"] = "moved"
    merged: str = ""
    """The commit of somebody else that was merged into the run's branch first."""


@frozen(kw_only=True)
class PushConflict:
    """Somebody pushed what conflicts with the run's branch; nothing was changed."""

    files: tuple[str, ...]
    commit: str
    """Their commit, which is in the repository now."""
    message: str = ""


PushResult: TypeAlias = Pushed | PushConflict


class Delivery(Workspaces, Protocol):
    """Workspaces whose work can be delivered, and whose remains can be removed."""

    def worktree_path(self, repository: Path, run: str) -> Path:
        """Return the folder in which the worktree of a run is created."""
        ...

    def snapshot_ref(self, run: str) -> str:
        """Return the ref of a run's newest snapshot."""
        ...

    def accept_settings(self, tree: Tree, files: Collection[str] | None = None) -> None:
        """Accept such changes: all of them, or the hooks among some files of the checkout."""
        ...

    def apply_to_checkout(self, tree: Tree, run: str) -> tuple[str, ...]:
        """Apply a run's changes to the user's checkout, uncommitted; returns the files that changed there."""
        ...

    def undo_apply(self, tree: Tree, run: str) -> tuple[str, ...]:
        """Undo the last application of a run; returns the files that changed."""
        ...

    def find_last_applied(self, root: Path, runs: Iterable[str]) -> str | None:
        """Find the run, out of some, whose changes were applied to a checkout last."""
        ...

    def merge_into_base(self, tree: Tree, message: str) -> MergeResult:
        """Merge the run's branch into its base; a clean checkout of the base is moved forward with it."""
        ...

    def list_unfinished_applies(self) -> tuple[UnfinishedApply, ...]:
        """List the applications that were interrupted, and that `apply` or `undo` of the same run finishes."""
        ...

    def require_discardable(self, tree: Tree, run: str) -> None:
        """Refuse what `discard` would refuse, without removing anything."""
        ...

    def discard(self, tree: Tree, run: str) -> str:
        """Remove a run's worktree and branch; returns the ref that preserves both."""
        ...

    def set_aside(self, tree: Tree, run: str) -> str:
        """Give up a worktree whose repository is gone; its files stay in a plain folder, whose name is returned."""
        ...

    def throw_away(self, repository: Path, run: str) -> None:
        """Remove a worktree that was only created to try something, with its branch; nothing of it is preserved."""
        ...

    def repositories_of(self, run: str) -> tuple[Path, ...]:
        """List the repositories in which a worktree was created under the name of a run."""
        ...

    def survey_leftovers(
        self, life: Callable[[str], Life], repositories: Iterable[str], retention: Retention
    ) -> tuple[Leftover, ...]:
        """List what runs left behind, in the repositories of all worktrees and in those given."""
        ...

    def remove_leftover(self, leftover: Leftover) -> tuple[str, ...]:
        """Remove something unless it has a reason to stay; returns the refs that preserve its content."""
        ...
