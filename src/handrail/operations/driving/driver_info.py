"""Who the background driver is, for commands that have to start fast."""

from pathlib import Path

from handrail.runtime.local.driver_lock import DriverInfo, who

__all__ = ["DriverInfo", "running_driver"]


def running_driver(folder: Path) -> DriverInfo | None:
    """Say which background driver is at work on a data folder."""
    return who(folder)
