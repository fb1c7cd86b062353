"""How a run's branch gets to a remote: what is wanted, and what came of it."""

from collections.abc import Mapping
from dataclasses import field
from typing import Literal, TypeAlias

from handrail.frozen import frozen


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
