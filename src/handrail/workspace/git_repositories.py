"""Implements the port `Repositories`, by running git and by reading its files."""

import atexit
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.late_import import late_import
from handrail.ports.repositories import Head
from handrail.workspace.git import repositories
from handrail.workspace.git.command import Git, Identity, split
from handrail.workspace.git.data_places import DataLayout

if TYPE_CHECKING:
    from handrail.workspace.git import checkout_state, repository_view
    from handrail.workspace.worktrees import start_point
else:
    repository_view = late_import("handrail.workspace.git.repository_view")
    checkout_state = late_import("handrail.workspace.git.checkout_state")
    start_point = late_import("handrail.workspace.worktrees.start_point")

_AUTHOR = Identity("Test", "test@localhost")


class GitRepositories:
    """Repositories on this machine, accessed through views in a folder of ours."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find_root(self, folder: Path) -> Path:
        """Find the root of the checkout around a folder."""
        return repositories.find_root(folder)

    def list_checkouts(self, folder: Path) -> tuple[Path, ...]:
        """List the root of the checkout around a folder, and those that share its git folder."""
        return repositories.list_checkouts(repositories.find_root(folder))

    def is_repository(self, root: Path) -> bool:
        """Whether git itself accepts a root as a repository."""
        # Only asks where the git folder is: this reads no setting that starts anything.
        return Git(root).query("rev-parse", "--git-dir") is not None

    def head(self, root: Path) -> Head:
        """Return the commit and the branch of a checkout; one without a commit is refused."""
        return repositories.head(self.open_git(root))

    def current_branch(self, root: Path) -> str:
        """Return the branch that is checked out; empty when HEAD is detached."""
        return (self.open_git(root).query("symbolic-ref", "-q", "HEAD") or "").removeprefix("refs/heads/")

    def remote_url(self, root: Path) -> str:
        """Return the URL of the remote that the checked-out branch belongs to; empty where there is none."""
        return repository_view.find_remote_url(root, self.current_branch(root))

    def default_branch(self, root: Path) -> str:
        """Return the branch that work usually starts from."""
        return repositories.default_branch(self.open_git(root))

    def commit_of(self, root: Path, name: str) -> str:
        """Resolve a name to a commit."""
        return repositories.commit_of(self.open_git(root), name)

    def branch_commit(self, root: Path, branch: str) -> str:
        """Return the commit of a branch; empty when there is no such branch."""
        return self.open_git(root).query("rev-parse", "--verify", "-q", f"refs/heads/{branch}") or ""

    def count_commits(self, root: Path, since: str, branch: str) -> int:
        """Count the commits of a branch that came after a commit."""
        return int(self.open_git(root).query("rev-list", "--count", f"{since}..refs/heads/{branch}") or 0)

    def list_uncommitted(self, root: Path) -> tuple[str, ...]:
        """List the files of a checkout that differ from HEAD or are not tracked."""
        return repositories.list_uncommitted(self.open_git(root))

    def filter_ignored_folders(self, root: Path, names: Sequence[str]) -> tuple[str, ...]:
        """Return those of the names that git ignores as folders."""
        given = "\0".join(f"{name}/" for name in names).encode()
        found = split(self.open_git(root).run("check-ignore", "-z", "--stdin", stdin=given, ok=(0, 1)).out)
        return tuple(entry.decode().rstrip("/") for entry in found)

    def list_ignored_files(self, root: Path, globs: Sequence[str]) -> tuple[str, ...]:
        """List the files that git ignores and that match a pattern."""
        return tuple(start_point.list_ignored_files(self.open_git(root), globs))

    def observe(self, folder: Path) -> dict[str, str]:
        """Return what can be read of a checkout without running git; empty where there is none."""
        return checkout_state.observe_checkout(folder)

    def create(self, folder: Path, branch: str) -> str:
        """Turn a folder into a repository with one commit of all its files, and return that commit."""
        git = Git(folder, identity=_AUTHOR)
        git.run("init", "-q", "--template=", "-b", branch)
        git.run("add", "-A", "-f")
        git.run("-c", "commit.gpgSign=false", "commit", "-q", "--allow-empty", "-m", "Start")
        return git.run("rev-parse", "HEAD").out.decode().strip()

    def open_git(self, root: Path) -> Git:
        """Open git in a checkout, for reading."""
        try:
            return DataLayout(self._folder).git(root)
        except PermissionError:
            # Reading must be possible even if the data folder cannot be written.
            return DataLayout(_make_temporary_folder()).git(root)


@cache
def _make_temporary_folder() -> Path:
    """Create a temporary folder for the views of one process, where there is no other."""
    folder = tempfile.TemporaryDirectory(prefix="handrail-views-")
    atexit.register(folder.cleanup)
    return Path(folder.name)
