"""The user's git repositories, which Handrail only reads; and a new one, in which a workflow is tested."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from handrail.frozen import frozen

WORKTREE_INCLUDE = ".worktreeinclude"
"""The file of a repository that names ignored files which a new worktree gets."""


@frozen
class Head:
    """The commit and branch of a checkout."""

    commit: str
    branch: str
    """Empty if HEAD is detached."""


class Repositories(Protocol):
    """Answers questions about repositories; a folder that is in none raises `WorkspaceFault`."""

    def find_root(self, folder: Path) -> Path:
        """Return the root of the checkout that a folder is in."""
        ...

    def list_checkouts(self, folder: Path) -> tuple[Path, ...]:
        """Return the root of the checkout that a folder is in, and those that share its git folder."""
        ...

    def is_repository(self, root: Path) -> bool:
        """Whether git itself recognizes a root as a repository."""
        ...

    def head(self, root: Path) -> Head:
        """Return the commit and the branch of a checkout; one without a commit is refused."""
        ...

    def current_branch(self, root: Path) -> str:
        """Return the branch that is checked out, also before its first commit; empty if HEAD is detached."""
        ...

    def default_branch(self, root: Path) -> str:
        """Return the branch that work usually starts from."""
        ...

    def commit_of(self, root: Path, name: str) -> str:
        """Resolve a branch, a tag or an abbreviated commit to a commit."""
        ...

    def branch_commit(self, root: Path, branch: str) -> str:
        """Return the commit of a branch; empty if there is no such branch."""
        ...

    def count_commits(self, root: Path, since: str, branch: str) -> int:
        """Count the commits of a branch that came after a commit."""
        ...

    def list_uncommitted(self, root: Path) -> tuple[str, ...]:
        """List the files of a checkout that differ from HEAD or are not tracked."""
        ...

    def filter_ignored_folders(self, root: Path, names: Sequence[str]) -> tuple[str, ...]:
        """Return those of the names that git ignores as folders."""
        ...

    def list_ignored_files(self, root: Path, globs: Sequence[str]) -> tuple[str, ...]:
        """List the files that git ignores and that match a pattern, written as in `.gitignore`."""
        ...

    def remote_url(self, root: Path) -> str:
        """Return the URL of the remote that the checked-out branch belongs to; empty if there is none."""
        ...

    def observe(self, folder: Path) -> dict[str, str]:
        """Return `root`, `repository`, `branch` and `head` of a checkout as far as they are known; empty for none."""
        ...

    def create(self, folder: Path, branch: str) -> str:
        """Make a folder a repository with one commit of all its files, and return that commit."""
        ...


class TrustedFiles(Protocol):
    """Answers which files of a repository the user has trusted."""

    def covers(self, repository: str, path: str, digest: str) -> bool:
        """Whether this exact content at this path of a repository was trusted.

        `repository` is the root of the user's checkout, `path` a path from there with forward slashes, and `digest` the
        SHA-256 of the bytes in hexadecimal digits.
        """
        ...
