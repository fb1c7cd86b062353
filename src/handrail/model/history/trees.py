"""Where a run works: what its work tree is made from, and the one that was made."""

from handrail.frozen import frozen


@frozen(kw_only=True)
class TreeSource:
    """What a work tree is made from; pinned when the run starts."""

    repository: str
    """The user's checkout."""
    base: str
    """The branch it starts from, by name."""
    commit: str
    """The commit it starts from."""
    branch: str
    """The branch to make; another free name is taken when somebody has it."""
    copy: tuple[str, ...] = ()
    """Globs of ignored files that are copied from the checkout."""
    setup: tuple[str, ...] = ()
    """Commands that make a new work tree ready."""
    setup_timeout: int = 600
    teardown: tuple[str, ...] = ()
    """Commands that run in it before it is removed."""
    teardown_timeout: int = 120
    changes: str = ""
    """A snapshot that is put on top: changes that are taken along, or the point that a fork goes on from."""
    merge: tuple[str, ...] = ()
    """Commits that are merged at once: the items that this one comes after."""


@frozen(kw_only=True)
class Tree:
    """A work tree that is there."""

    path: str
    repository: str
    branch: str
    base: str
    commit: str
    """The commit that the run's own changes are measured against."""
    owned: bool = True
    """Made by us: it may be restored and removed. A borrowed one is only ever read."""
