"""The lease of a run, for whoever records something in it without driving it."""

import time

from handrail.errors import LogConflict
from handrail.ports.log import Holder, Lease, Log

_TIMEOUT = 2.0
"""Seconds within which a driver that only looks at the run has released it."""
_POLL_INTERVAL = 0.02


def acquire_lease(log: Log, run: str, by: str) -> Lease:
    """Acquire the lease of a run, waiting a little for a driver that only looks at it."""
    until = time.monotonic() + _TIMEOUT
    while isinstance(lease := log.acquire(run, by), Holder):
        if time.monotonic() > until:
            raise LogConflict(
                f"{run} is driven by {lease.name} (process {lease.pid})",
                next_step=f"handrail take {run}, then try again",
            )
        time.sleep(_POLL_INTERVAL)
    return lease
