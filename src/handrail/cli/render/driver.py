"""The background driver as a part of JSON documents."""

from typing import Any

from handrail.operations.driving.driver_info import DriverInfo, HeldLogins
from handrail.operations.views.run_document import iso


def driver_data(driver: DriverInfo, held: tuple[HeldLogins, ...] | None) -> dict[str, Any]:
    """Give who the driver is, its own logins by variable, and the runs whose environment it holds with theirs."""
    own = next((each.logins for each in held or () if not each.run), ())
    runs = [{"run": each.run, "logins": _logins(each.logins)} for each in held or () if each.run]
    return {
        "pid": driver.pid,
        "since": iso(driver.since),
        "takes_environments": held is not None,
        "logins": _logins(own),
        "environments": runs,
    }


def _logins(logins: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"agent": agent, "variable": variable} for agent, variable in logins]
