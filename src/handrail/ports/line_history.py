"""The history of the lines of a file, as git tells it: who is asked by `blame`."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias

from handrail.frozen import frozen

Ancestry: TypeAlias = Mapping[str, tuple[str, ...]]
"""The parents that a commit is said to have, instead of those that it names."""


@frozen
class TrackedFile:
    """A file of a repository."""

    root: Path
    path: str
    """Relative to the root, with slashes."""
    revision: str = ""
    """A commit; empty for the file as it is in the checkout."""


@frozen
class BlamedLine:
    """A line of a file, and where it came from."""

    number: int
    text: str
    commit: str
    """The commit that brought it in; empty if it is not committed yet."""
    path: str
    """The name that the file had in that commit."""


@frozen(kw_only=True)
class CommitFacts:
    """What a commit says of itself."""

    commit: str
    parents: tuple[str, ...]
    author: str
    email: str
    authored_at: int
    committed_at: int
    message: str
    snapshot_of: str = ""
    """The run, if the commit is a snapshot of its worktree."""
    head: str = ""
    """HEAD of the worktree, if the commit is a snapshot."""
    cut_off: bool = False
    """Whether a shallow clone ends here, so that the lines may be older than the commit."""

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0]


@frozen
class PinnedWork:
    """A ref of ours that keeps work of a run."""

    run: str
    commit: str
    folder: str = ""
    """Where the files are in its tree; empty for the top."""
    before: str = ""
    """Where the files are that the checkout had before the work was applied to it; empty if it was not."""


class LineHistory(Protocol):
    """Answers where lines come from; nothing in a repository is changed."""

    def find_file(self, file: Path, revision: str) -> TrackedFile:
        """Find the repository of a file; one that has no lines, or is not in the revision, is refused with a reason."""
        ...

    def blame(self, file: TrackedFile, ancestry: Ancestry) -> tuple[BlamedLine, ...]:
        """Find the commit that each line came from, through renames and moves inside the file."""
        ...

    def read_commits(self, root: Path, commits: Iterable[str]) -> dict[str, CommitFacts]:
        """Read commits; those that the repository does not have are left out."""
        ...

    def list_commits(self, root: Path, since: str, until: str, *, first_parent: bool = False) -> tuple[str, ...]:
        """List the commits that came after a commit, up to another one or a branch; none if one is missing."""
        ...

    def list_descendants(self, root: Path, commit: str, until: str) -> frozenset[str]:
        """List the commits that contain a commit, up to another one."""
        ...

    def list_pins(self, root: Path) -> tuple[PinnedWork, ...]:
        """List the refs that keep work of runs."""
        ...

    def find_files(self, root: Path, names: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Return the object of each file that exists, by its commit and path."""
        ...

    def count_changed_lines(self, root: Path, old: str, new: str) -> int:
        """Count the lines by which two files differ, by their objects."""
        ...
