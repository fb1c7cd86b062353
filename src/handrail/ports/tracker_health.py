"""What `handrail doctor` says about the account under which trackers and code hosts are called."""

from handrail.frozen import frozen


@frozen(kw_only=True)
class AccountHealth:
    """An account on a code host, as far as it could be asked about."""

    host: str
    source: str = ""
    """Where the token was found; empty if there is none."""
    login: str = ""
    scopes: tuple[str, ...] | None = None
    """What a classic token may do; None for one that has permissions instead."""
    starts_no_checks: bool = False
    """Whether pushes with the token start no workflows, as with the token of a job of GitHub Actions."""
    remaining: int | None = None
    """How many calls are left in this hour."""
    limit: int = 0
    problem: str = ""
    next_step: str = ""
