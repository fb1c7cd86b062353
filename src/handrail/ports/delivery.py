"""What becomes of a run's work: brought to the user's checkout, merged, discarded; and what runs leave behind."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from handrail.frozen import frozen
from handrail.model.history.trees import Tree
from handrail.ports.workspaces import MergeResult, Workspaces

Life: TypeAlias = Literal["alive", "over", "unknown"]


@frozen(kw_only=True)
class Leftover:
    """Something that a run left."""

    kind: Literal["worktree", "branch", "snapshots", "lock"]
    run: str
    name: str
    """A path, a branch or a ref."""
    repository: str
    size: int = 0
    """Bytes on the disk."""
    reasons: tuple[str, ...] = ()
    """Why it stays; empty when it may be removed."""


class Delivery(Workspaces, Protocol):
    """Workspaces whose work can be delivered, and whose remains can be removed."""

    def worktree_path(self, repository: Path, run: str) -> Path:
        """Give the folder in which the worktree of a run is made."""
        ...

    def snapshot_ref(self, run: str) -> str:
        """Give the ref of a run's newest snapshot."""
        ...

    def apply_to_checkout(self, tree: Tree, run: str) -> tuple[str, ...]:
        """Bring what a run changed into the user's checkout, uncommitted; gives the files that changed there."""
        ...

    def undo_apply(self, tree: Tree, run: str) -> tuple[str, ...]:
        """Take the last application of a run back; gives the files that changed."""
        ...

    def applied_last(self, root: Path, runs: Iterable[str]) -> str | None:
        """Give the run, out of some, whose changes were applied to a checkout last."""
        ...

    def merge_into_base(self, tree: Tree, message: str) -> MergeResult:
        """Merge the run's branch into its base without touching a checkout."""
        ...

    def discard(self, tree: Tree, run: str) -> str:
        """Remove a run's worktree and branch; gives the ref that keeps both."""
        ...

    def throw_away(self, repository: Path, run: str) -> None:
        """Remove a worktree that was only made to try something, with its branch; nothing of it is kept."""
        ...

    def repositories_of(self, run: str) -> tuple[Path, ...]:
        """Give the repositories in which a worktree was made under the name of a run."""
        ...

    def survey_leftovers(self, life: Callable[[str], Life], repositories: Iterable[str]) -> tuple[Leftover, ...]:
        """List what runs left, in the repositories of all worktrees and in those given."""
        ...

    def remove_leftover(self, leftover: Leftover) -> tuple[str, ...]:
        """Remove something unless it has a reason to stay; gives the refs that keep what was in it."""
        ...
