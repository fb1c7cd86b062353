"""Where a run works: a git worktree of its own, or a checkout that it borrows; and the snapshots of it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from handrail.frozen import frozen
from handrail.model.history.trees import Tree

if TYPE_CHECKING:
    from handrail.ports.delivery import PushRequest, PushResult


@frozen(kw_only=True)
class Source:
    """What a workspace is made from; pinned when the run starts."""

    run: str
    repository: str
    """The user's checkout."""
    base: str
    """The branch it starts from, by name, for people and for diffs."""
    commit: str
    """The commit it starts from."""
    branch: str
    """The branch to create; if it exists, another free name is used."""
    copy: tuple[str, ...] = ()
    """Globs of ignored files that are copied from the checkout, beside those of `.worktreeinclude`."""
    changes: str = ""
    """A snapshot that is put on top: uncommitted changes, or the point from which a fork continues."""
    merge: tuple[str, ...] = ()
    """Commits that are merged right away: the items that this one depends on."""
    teardown: tuple[str, ...] = ()
    """Commands that run in the worktree before it is removed."""
    teardown_timeout: int = 120
    """Seconds for all of them together."""
    born: str = ""
    """When the run was created, which distinguishes it from one of the same id in an earlier log."""


@frozen
class Snapshot:
    """The state of a worktree at one moment, stored in the repository."""

    id: str
    """The commit under `refs/handrail/`."""
    tree: str
    """The git tree of all files as they are: equal trees have equal ids."""
    head: str
    omitted: tuple[str, ...] = ()
    """What a snapshot cannot hold: nested repositories, changes in submodules, empty folders."""


@frozen
class Merged:
    """The branch was merged; `commit` is where the run's branch is now."""

    commit: str
    already: bool = False


@frozen
class Conflict:
    """It cannot be merged without a decision; the worktree is as it was unless markers were asked for."""

    files: tuple[str, ...]
    message: str = ""


MergeResult: TypeAlias = Merged | Conflict


@frozen
class FileChange:
    """A file that differs between two trees."""

    path: str
    change: Literal["added", "modified", "deleted", "renamed", "type", "repository"]
    """`repository` is a nested one, in which something changed that no snapshot holds."""
    added: int | None = None
    """Lines; None for binary files."""
    deleted: int | None = None
    old: str = ""


@frozen(kw_only=True)
class FileRange:
    """Files that no snapshot holds, such as ignored ones."""

    since: str
    """The snapshot whose own files are left out."""
    below: tuple[str, ...]
    """Paths below which all of them are; an empty one is the top."""
    wanted: Callable[[str], bool]
    """Decides by its path whether a file is one of them."""


class Workspaces(Protocol):
    """Creates, snapshots, restores and merges workspaces. Every method may be called again after a crash."""

    def prepare(self, source: Source) -> Tree:
        """Create the worktree of a run, or find the existing one; a failure is an error, never an empty folder."""
        ...

    def record_settings(self, tree: Tree) -> None:
        """Record what makes the user's git start programs, once a worktree is set up; an existing record stays."""
        ...

    def note_step(self, tree: Tree) -> None:
        """Record that a step begins, after which the settings must be checked, by whomever."""
        ...

    def look_at_settings(self, tree: Tree) -> tuple[str, ...]:
        """List which of these settings have changed, after a step; they stay unaccepted for later runs too."""
        ...

    def recall_settings(self, tree: Tree) -> tuple[str, ...] | None:
        """List the same where it takes but a moment to know that nothing was written since the last look."""
        ...

    def list_unused_filters(self, tree: Tree) -> tuple[str, ...]:
        """List the filters of the repository that are not run, so that files of theirs cannot be committed."""
        ...

    def is_there(self, tree: Tree) -> bool:
        """Whether a worktree can be worked in; an owned one that cannot is created again by `prepare`."""
        ...

    def release(self, tree: Tree, run: str) -> bool:
        """Remove the worktree of a run if its files are those of the newest commit of its branch, which stays.

        Gives False where there is more in it than that, or somebody works in it. `prepare` makes it again.
        """
        ...

    def released_commit(self, tree: Tree, files: str) -> str:
        """Give the newest commit of the branch of a worktree that is gone; a fault where it holds other files."""
        ...

    def snapshot(self, tree: Tree, run: str, since: str = "") -> Snapshot:
        """Store the worktree as it is, borrowed or owned.

        What is ignored is decided by the rules that the snapshot `since` had, so that nothing that was done after it
        hides anything; without one, by the current rules.
        """
        ...

    def recall_snapshot(self, tree: Tree, run: str, since: str) -> Snapshot | None:
        """Return the snapshot `since` where it takes but a moment to know that nothing changed."""
        ...

    def restore(self, tree: Tree, run: str, snapshot: str) -> str:
        """Restore an owned worktree: files, index, branch and HEAD; returns the ref that preserves what was there."""
        ...

    def commit(self, tree: Tree, message: str, paths: tuple[str, ...] | None = None) -> str:
        """Commit what changed and return the commit of HEAD; without a change HEAD stays."""
        ...

    def commit_before_merge(self, tree: Tree, message: str) -> str:
        """Commit what changed, as `commit` does, unless a merge is already in progress; returns the commit of HEAD."""
        ...

    def merge(self, tree: Tree, commit: str, message: str, *, markers: bool = False) -> MergeResult:
        """Merge a commit into the run's branch; with `markers` a conflict is left in the files to be resolved."""
        ...

    def conclude(self, tree: Tree, message: str) -> MergeResult:
        """Commit a merge whose markers somebody resolved."""
        ...

    def changes(self, tree: Tree, since: str, until: str | None = None) -> tuple[FileChange, ...]:
        """List what differs between two commits or snapshots; None is the worktree as it is."""
        ...

    def list_ignored_paths(self, tree: Tree, below: tuple[str, ...]) -> tuple[str, ...]:
        """List the current files that `changes` skips as ignored, below some paths; a new cache is one entry."""
        ...

    def record_files(self, tree: Tree, chosen: FileRange, known: str = "") -> str:
        """Record the files that are in no snapshot, including ignored ones, and return the record's name.

        A known record that still exists is reused. Too many files to look at are refused.
        """
        ...

    def list_differing_files(self, tree: Tree, chosen: FileRange, record: str) -> tuple[str, ...]:
        """List such files that were added, changed or removed since a record; a missing record is an error."""
        ...

    def remote(self, tree: Tree) -> str:
        """Return the remote that the repository's branches are pushed to; empty if there is none."""
        ...

    def remote_url(self, tree: Tree, remote: str) -> str:
        """Return the address to which a remote is pushed; empty if there is no such remote."""
        ...

    def push(self, tree: Tree, request: "PushRequest") -> "PushResult":
        """Push the run's branch with the user's git and credentials, building upon what others pushed.

        Nothing that the repository configures is started, and no hook is run. A remote that refuses raises
        `PushRefused`; whatever was pushed by somebody else is never overwritten.
        """
        ...

    def find_changed_settings(self, tree: Tree) -> tuple[str, ...]:
        """List the settings that make the user's git start programs and have changed since the run was set up."""
        ...

    def diff(self, tree: Tree, since: str, until: str | None = None, *, stat: bool = False) -> str:
        """Return the same as a patch that can be applied, or as a summary."""
        ...

    def readable_diff(self, tree: Tree, since: str, until: str) -> str:
        """Return the same for readers: without the contents of binary files and the full names of objects."""
        ...
