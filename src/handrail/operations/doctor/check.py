"""Checks whether everything that runs need is installed, and everything recorded is as it was written."""

import os
import platform
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

from handrail.errors import HandrailError, StorageDamaged, StorageTooNew
from handrail.frozen import frozen
from handrail.model.issues import LOCAL, STREAM
from handrail.operations.agents.health import AgentHealth, examine_agents
from handrail.operations.doctor.repair import cut_unreadable, drop_orphans, examine_runs, repair_lists, runs_in
from handrail.ports.log import Log
from handrail.ports.log_care import Finding, Salvage, TruncatedStream
from handrail.ports.machine import Machine
from handrail.ports.programs import InstalledProgram
from handrail.ports.sandboxes import Sandbox
from handrail.runtime.handlers.agents.account_limits import FOLDER as LIMITS
from handrail.runtime.handlers.agents.account_limits import AccountLimit, AccountLimits
from handrail.runtime.local.driver_lock import DriverInfo, find_driver

UsageLimit: TypeAlias = AccountLimit
SANDBOX = "bwrap"
LOCAL_ISSUES = f"{STREAM}{LOCAL}#"
OPTIONAL = ("gh", "tmux", SANDBOX)
"""The tools that only some workflows need."""


@frozen
class Tool:
    """A tool that runs need: its version, or why it cannot be used."""

    name: str
    version: str | None
    problem: str = ""
    """Why no run can do without it."""
    installed: bool = True
    kind: Literal["needed", "agent", "optional"] = "needed"
    remark: str = ""
    """Why only some runs cannot use it."""


@frozen
class Health:
    """What a check found, and what a repair did."""

    tools: tuple[Tool, ...]
    database: str
    findings: tuple[Finding, ...]
    cuts: tuple[TruncatedStream, ...] = ()
    copy: str | None = None
    repaired: bool = False
    runs: int | None = None
    """The number of runs that remain after a repair."""
    driver: DriverInfo | None = None
    """The background driver, if it is running."""
    agents: tuple[AgentHealth, ...] = ()
    limits: tuple[AccountLimit, ...] = ()
    """The usage limits that runs wait for."""

    @property
    def is_healthy(self) -> bool:
        """Whether nothing needs a person."""
        return not self.findings and not any(tool.problem for tool in self.tools)


def examine_health(machine: Machine, folder: Path, *, repair: bool, run: str | None = None) -> Health:
    """Check the tools and the log; with `repair`, truncate damaged histories to their intact part, keeping a copy.

    If one `run` is named, only its problems are reported and repaired.
    """
    wanted = tuple(profile.program for profile in machine.agents.profiles)
    programs = machine.programs.find(("git", *wanted, *OPTIONAL))
    own = Tool("python", platform.python_version()), Tool("sqlite", machine.log_files.version)
    tools = (*_tools(machine.sandbox, programs, wanted), *own)
    agents = examine_agents(machine.agents, machine.programs, programs, os.environ)
    limits = AccountLimits(folder / LIMITS).list_active(time.time())
    database = machine.log_files.path(folder)
    found = Health(tools, str(database), (), driver=find_driver(folder), agents=agents, limits=limits)
    if not database.exists():
        return found
    findings = _check(machine, folder, run)
    if not repair or not findings:
        return replace(found, findings=findings)
    done, runs = _repair_log(machine, folder, run)
    left = _check(machine, folder, run)
    return replace(found, findings=left, cuts=done.cuts, copy=done.copy, repaired=True, runs=runs)


def _repair_log(machine: Machine, folder: Path, run: str | None) -> tuple[Salvage, int]:
    files = machine.log_files
    done = files.salvage(folder) if run is None else Salvage()
    log = files.open(folder)
    try:
        cuts = cut_unreadable(log, run)
        if run is None:
            drop_orphans(log)
            cuts += machine.issue_care().repair(log) if machine.issue_care is not None else ()
        repair_lists(log, run)
        return replace(done, cuts=(*done.cuts, *cuts)), len(runs_in(log))
    finally:
        log.close()


def _tools(sandbox: Sandbox, found: Mapping[str, InstalledProgram | None], agents: tuple[str, ...]) -> tuple[Tool, ...]:
    optional = (_tool(name, found[name], "optional") for name in OPTIONAL)
    return (
        _git(found["git"]),
        *(_tool(name, found[name], "agent") for name in agents),
        *(_probe_sandbox(sandbox, each) for each in optional),
    )


def _probe_sandbox(sandbox: Sandbox, tool: Tool) -> Tool:
    """Note why bubblewrap cannot be used: it may be installed and forbidden."""
    return replace(tool, remark=sandbox.unusable()) if tool.name == SANDBOX and tool.installed else tool


def _git(found: InstalledProgram | None) -> Tool:
    if found is None:
        return Tool("git", None, "not found; install git and put it on the PATH", installed=False)
    problem = "" if found.version else "does not print its version; try: git --version"
    return Tool("git", found.version, problem)


def _tool(name: str, found: InstalledProgram | None, kind: Literal["agent", "optional"]) -> Tool:
    return Tool(name, None if found is None else found.version, installed=found is not None, kind=kind)


def _check(machine: Machine, folder: Path, run: str | None) -> tuple[Finding, ...]:
    files = machine.log_files
    name = files.path(folder).name
    try:
        log = files.open(folder)
    except StorageDamaged as error:
        return (Finding("database", name, error.message),)
    try:
        found = _findings(log, machine)
    except StorageTooNew:
        # Nothing is damaged, and no repair helps: only a newer Handrail can read it.
        raise
    except HandrailError as error:
        found = (Finding("database", name, error.message),)
    finally:
        log.close()
    return found if run is None else tuple(each for each in found if each.part == "database" or each.name == run)


def _findings(log: Log, machine: Machine) -> tuple[Finding, ...]:
    found = log.check().findings
    if any(each.part == "database" for each in found):
        return found
    damaged = {each.name for each in found if each.part == "stream"}
    issues = machine.issue_care().examine(log) if machine.issue_care is not None else ()
    inside = (*examine_runs(log), *(each for each in issues if f"{LOCAL_ISSUES}{each.name}" not in damaged))
    return (*found, *(each for each in inside if each.part != "run" or each.name not in damaged))
