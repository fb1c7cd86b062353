"""Determines the source of a new run's worktree: the repository, the branch and commit, and how it is set up."""

import re
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.errors import NotFound, WorkspaceFault
from handrail.frozen import frozen
from handrail.model.history.trees import Tree, TreeSource
from handrail.operations.workflows.repository_config import RepositorySettings
from handrail.ports.repositories import WORKTREE_INCLUDE, Repositories
from handrail.ports.workspaces import Workspaces
from handrail.sources.config.config import RepositoryConfig, Worktrees
from handrail.sources.foreign_files import Refusal, decode, read_content
from handrail.sources.tiers import Location
from handrail.sources.trust.store import TrustStore

if TYPE_CHECKING:
    from handrail.ports.delivery import Delivery

BRANCH = "work/{run}"


@frozen
class WorktreeOrigin:
    """What a worktree is created from, and what of the checkout it leaves out."""

    source: TreeSource
    uncommitted: tuple[str, ...]
    pass_env: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    """What of the repository is not used, and why."""


def ground_of(
    repositories: Repositories, place: Location, configured: RepositorySettings | None, base: str | None
) -> WorktreeOrigin | None:
    """Return the ground of a new run, or None if there is no repository."""
    root = _root(repositories, place)
    if root is None:
        return None
    head = repositories.head(root)
    config = _usable(configured)
    settings = config.worktrees if config is not None else Worktrees()
    wanted = base or settings.base
    name = wanted or head.branch or head.commit[:12]
    commit = repositories.commit_of(root, wanted) if wanted else head.commit
    included, notices = read_include_patterns(place, root)
    source = TreeSource(
        repository=str(root),
        base=name,
        commit=commit,
        branch=settings.branch or BRANCH,
        copy=(*included, *settings.copy),
        setup=settings.setup,
        setup_timeout=settings.timeout,
        teardown=settings.teardown,
        teardown_timeout=settings.teardown_timeout,
    )
    left_out = repositories.list_uncommitted(root)
    return WorktreeOrigin(source, left_out, () if config is None else config.pass_env, notices)


def read_include_patterns(place: Location, root: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Read the patterns of `.worktreeinclude`, pinned when the run starts; if it is not trusted, only say so."""
    content = read_content(root / WORKTREE_INCLUDE, root) if not (root / WORKTREE_INCLUDE).is_symlink() else None
    text = decode(content.data) if content is not None and isinstance(content.data, bytes) else None
    if content is None or not isinstance(text, str) or isinstance(text, Refusal):
        return (), ()
    trust = TrustStore(place.folders).status_of([content])
    if not trust.is_granted:
        return (), (f"{WORKTREE_INCLUDE} is not used: {trust.reason}; handrail trust . shows it",)
    lines = (re.sub(r"(?<!\\) +$", "", line.removesuffix("\r")) for line in text.removeprefix("\ufeff").split("\n"))
    return tuple(line for line in lines if line and not line.startswith("#")), ()


def find_checkout(repositories: Repositories, folder: Path) -> Tree | None:
    """Return the checkout that contains a folder, as a tree that is only read; None if there is no repository."""
    try:
        root = repositories.find_root(folder)
    except (WorkspaceFault, PermissionError):
        return None
    branch = repositories.current_branch(root)
    return Tree(path=str(root), repository=str(root), branch=branch, base=branch, commit="", owned=False)


def include_uncommitted_changes(workspaces: Workspaces, repositories: Repositories, source: TreeSource) -> TreeSource:
    """Return a source with the uncommitted changes of the checkout on top; the checkout itself is only read."""
    tree = find_checkout(repositories, Path(source.repository))
    if tree is None:
        raise WorkspaceFault(f"{source.repository} is no longer a git repository", next_step="put it back")
    # One name per checkout: which run takes the changes along is not known before it starts.
    taken = workspaces.snapshot(tree, f"checkout.{sha256(source.repository.encode()).hexdigest()[:8]}")
    return replace(source, changes=taken.id)


def future_tree(workspaces: "Delivery", source: TreeSource | None, run: str) -> str | None:
    """Return the folder in which a run's worktree will be created; None if it gets none."""
    if source is None:
        return None
    return str(workspaces.worktree_path(Path(source.repository), run))


def _root(repositories: Repositories, place: Location) -> Path | None:
    try:
        root = repositories.find_root(place.cwd or Path.cwd())
    except (NotFound, WorkspaceFault):
        return None
    # A folder that only looks like a repository is a plain one.
    return root if repositories.is_repository(root) else None


def _usable(configured: RepositorySettings | None) -> RepositoryConfig | None:
    """Return the configuration if it is trusted; one that says nothing about worktrees and agents needs no trust."""
    if configured is None or not configured.distrust:
        return None if configured is None else configured.config
    config = configured.config
    said = ["[worktrees]"] if config.worktrees != Worktrees() else []
    said += ["[agent]"] if (config.pass_env, config.agent, config.fallback) != ((), "", ()) else []
    if said:
        configured.require(" and ".join(said), "need" if len(said) > 1 else "needs")
    return None
