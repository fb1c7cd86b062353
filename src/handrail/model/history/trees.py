"""Where a run works: what its worktree is created from, and the existing worktree."""

from handrail.frozen import frozen


@frozen(kw_only=True)
class TreeSource:
    """What a worktree is created from; pinned when the run starts."""

    repository: str
    """The user's checkout."""
    base: str
    """The branch it starts from, by name."""
    commit: str
    """The commit it starts from."""
    branch: str
    """The branch to create; if it exists, another free name is used."""
    copy: tuple[str, ...] = ()
    """Globs of ignored files that are copied from the checkout."""
    setup: tuple[str, ...] = ()
    """Commands that set up a new worktree."""
    setup_timeout: int = 600
    teardown: tuple[str, ...] = ()
    """Commands that run in it before it is removed."""
    teardown_timeout: int = 120
    changes: str = ""
    """A snapshot that is put on top: uncommitted changes, or the point from which a fork continues."""
    merge: tuple[str, ...] = ()
    """Commits that are merged right away: the items that this one depends on."""


@frozen(kw_only=True)
class Tree:
    """A worktree that exists."""

    path: str
    repository: str
    branch: str
    base: str
    commit: str
    """The commit that the run's own changes are measured against."""
    owned: bool = True
    """Whether Handrail created it: then it may be restored and removed. A borrowed one is only ever read."""
