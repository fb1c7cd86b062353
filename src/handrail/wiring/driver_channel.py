"""The private channel to the background driver of a data folder."""

from pathlib import Path

from handrail.processes.environment_channel import Endpoint, SocketEnvironments
from handrail.runtime.local.driver_lock import find_driver


def driver_environments(data: Path) -> SocketEnvironments:
    """Return the environments that the background driver of a data folder holds."""

    def find() -> Endpoint | None:
        driver = find_driver(data)
        return None if driver is None else Endpoint(driver.pid, driver.socket)

    return SocketEnvironments(data, find)
