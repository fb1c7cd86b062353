"""Whether everything is there that runs need, and everything recorded is as it was written."""

import platform
from dataclasses import dataclass, replace
from pathlib import Path

from handrail.errors import HandrailError, StorageDamaged
from handrail.operations.mending import lost_plans, mend_lists, unreadable_lists
from handrail.ports.care import Cut, Finding, Salvage
from handrail.runtime.background import DriverInfo, who
from handrail.store.database import FILE, sqlite_version
from handrail.store.sqlite_log import open_log, salvage_folder
from handrail.workspace.tools import version_of


@dataclass(frozen=True, slots=True)
class Tool:
    """Something that runs need: its version, or why it cannot be used."""

    name: str
    version: str | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Health:
    """What a check found, and what a repair did."""

    tools: tuple[Tool, ...]
    database: str
    findings: tuple[Finding, ...]
    cuts: tuple[Cut, ...] = ()
    copy: str | None = None
    repaired: bool = False
    runs: int | None = None
    """How many runs a repair left."""
    driver: DriverInfo | None = None
    """The background driver, if it is running."""

    @property
    def healthy(self) -> bool:
        """Whether nothing needs a person."""
        return not self.findings and not any(tool.problem for tool in self.tools)


def examine_health(folder: Path, *, repair: bool) -> Health:
    """Check the tools and the log; with `repair` cut damaged histories back to what is intact, keeping a copy."""
    tools = (_git(), Tool("python", platform.python_version()), Tool("sqlite", sqlite_version()))
    found = Health(tools, str(folder / FILE), (), driver=who(folder))
    if not (folder / FILE).exists():
        return found
    findings = _check(folder)
    if not repair or not findings:
        return replace(found, findings=findings)
    done, runs = _mended(folder)
    return replace(found, findings=_check(folder), cuts=done.cuts, copy=done.copy, repaired=True, runs=runs)


def _mended(folder: Path) -> tuple[Salvage, int]:
    done = salvage_folder(folder)
    log = open_log(folder)
    try:
        mend_lists(log)
        return done, len(log.streams())
    finally:
        log.close()


def _git() -> Tool:
    version = version_of("git")
    return Tool("git", version, "" if version else "not found; install git and put it on the PATH")


def _check(folder: Path) -> tuple[Finding, ...]:
    try:
        log = open_log(folder)
    except StorageDamaged as error:
        return (Finding("database", FILE, error.message),)
    try:
        return log.check().findings or unreadable_lists(log) or lost_plans(log)
    except HandrailError as error:
        return (Finding("database", FILE, error.message),)
    finally:
        log.close()
