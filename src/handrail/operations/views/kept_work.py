"""Where the work of a run is stored: its branch, the commits on it, and uncommitted files in its worktree."""

from pathlib import Path

from handrail.errors import HandrailError
from handrail.frozen import frozen
from handrail.model.history.run_state import RunState
from handrail.ports.repositories import Repositories


@frozen
class KeptWork:
    """What a run has done so far, and where it is."""

    branch: str
    commits: int
    files: int
    """Uncommitted files of the worktree; they are also stored in snapshots."""

    @property
    def words(self) -> str:
        """Describe it: `the work is safe on branch work/fix-bug-1 (3 commits, 1 uncommitted file)`."""
        counts = [_count(self.commits, "commit"), _count(self.files, "uncommitted file")]
        told = ", ".join(each for each in counts if each)
        return f"the work is safe on branch {self.branch}" + (f" ({told})" if told else "")


def find_kept_work(repositories: Repositories, state: RunState) -> KeptWork | None:
    """Find out what a run has done; None if it has no worktree of its own, or has changed nothing."""
    tree = state.tree
    if tree is None or not tree.owned:
        return None
    try:
        commits = repositories.count_commits(Path(tree.repository), tree.commit, tree.branch)
        files = len(repositories.list_uncommitted(Path(tree.path))) if Path(tree.path).is_dir() else 0
    except (HandrailError, OSError):
        return None
    return KeptWork(tree.branch, commits, files) if commits or files else None


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}" if number else ""
