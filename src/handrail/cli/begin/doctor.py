"""`handrail doctor`."""

import shutil
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.options import current_place, json_option, optional_run_argument
from handrail.cli.output import write_json
from handrail.cli.render.layout import flow
from handrail.cli.render.safe_text import escape_controls

if TYPE_CHECKING:
    from handrail.operations.agents.health import AgentHealth
    from handrail.operations.doctor.check import Health, Tool, UsageLimit
    from handrail.operations.driving.driver_info import DriverInfo, HeldLogins
    from handrail.ports.log_care import Finding, TruncatedStream
    from handrail.ports.trackers import AccountHealth
    from handrail.sources.tiers import Location


@click.command("doctor", epilog="Example: handrail doctor --repair")
@optional_run_argument
@click.option("--repair", is_flag=True, help="Truncate damaged histories to their intact part; a copy is kept.")
@json_option
def command(*, run: str | None, repair: bool, as_json: bool) -> int:
    """Check the tools that runs need, and the integrity of everything recorded, or of one RUN."""
    from handrail.operations.doctor.check import examine_health
    from handrail.operations.driving.driver_info import list_logins
    from handrail.wiring.driver_channel import driver_environments
    from handrail.wiring.issues import describe_tracker
    from handrail.wiring.machine import list_unfinished_applies, this_machine
    from handrail.wiring.trackers import examine_github

    place, machine = current_place(), this_machine()
    found = examine_health(machine, place.folders.data, repair=repair, run=run)
    held = None
    if found.driver is not None:
        held = list_logins(driver_environments(place.folders.data).list_held(), machine.agents.profiles)
    cut_off = list_unfinished_applies(place.folders.data)
    account = examine_github(place.folders)
    issues = describe_tracker(place)
    if as_json:
        applies = [{"run": each.run, "checkout": each.checkout, "undo": each.undo} for each in cut_off]
        queue = [{"run": run, **data} for run, data in _queue(place).items()]
        others = {"unfinished_applies": applies, "queue": queue, "github": _account_data(account), "issues": issues}
        write_json({**_data(found, held), **others})
    else:
        unfinished = [each.words for each in cut_off]
        lines = [
            *_lines(found, account),
            *([f"  issues    {issues}"] if issues else []),
            *_driver_lines(found.driver, held),
            *(f"  {run} {data['words']}" for run, data in _queue(place).items()),
            *unfinished,
            *(_next_lines(found) or [f"Next: {_first_step(place)}"]),
        ]
        click.echo("\n".join(escape_controls(line) for line in lines))
    return 0 if found.is_healthy else 1


def _queue(place: "Location") -> "dict[str, dict[str, Any]]":
    """List the runs that wait for their turn, each with what it waits for."""
    from handrail.model.history.run_lines import Filter
    from handrail.operations.views.queue import OPEN, queue_data
    from handrail.ports.run_list import NeedsWholeLog
    from handrail.wiring.run_list import has_log, open_run_list

    try:
        if not has_log(place.folders.data):
            return {}
        with open_run_list(place.folders.data) as runs:
            known = runs.rows(Filter(statuses=OPEN))
    except NeedsWholeLog:
        # The findings already report what is wrong with the log.
        return {}
    return {row.key: queue_data(row.key, known) for row in known if row.document.get("status") == "queued"}


def _lines(found: "Health", account: "AccountHealth") -> list[str]:
    columns = shutil.get_terminal_size((110, 24)).columns
    lines = flow([_tool_words(tool) for tool in found.tools], columns, between="   ", indent="")
    lines += [f"{tool.name}: {tool.problem or tool.remark}" for tool in found.tools if tool.problem or tool.remark]
    lines += [_agent_words(each) for each in found.agents if each.installed]
    lines += [_limit_words(each) for each in found.limits]
    lines += _account_lines(account)
    lines += [f"log   {found.database} {'✗' if found.findings else '✓'}"]
    lines += [f"  {_finding_words(each)}" for each in found.findings]
    lines += [f"  {_cut_words(each)}" for each in found.cuts]
    lines += [f"  rebuilt the file: it contains {found.runs} runs"] if found.copy else []
    lines += [f"  the damaged file is kept as {found.copy}"] if found.copy else []
    return lines


def _tool_words(tool: "Tool") -> str:
    if tool.installed:
        return " ".join(part for part in (tool.name, tool.version, "✗" if tool.problem or tool.remark else "✓") if part)
    return f"{tool.name} – optional" if tool.kind == "optional" else f"{tool.name} ✗ not installed"


def _agent_words(agent: "AgentHealth") -> str:
    from handrail.operations.agents.health import access_words, list_unsupported

    said = {True: "logged in", False: f"not logged in (next: {agent.login})", None: "login unknown"}
    cannot = list_unsupported(agent.can)
    held = f"access {access_words(agent.can)}" + (f"; cannot enforce {', '.join(cannot)}" if cannot else "")
    return f"  {agent.name:<9} {said[agent.logged_in]} · {held}"


def _limit_words(limit: "UsageLimit") -> str:
    from handrail.operations.views.run_document import iso

    return f"  {limit.agent:<9} at its usage limit until {iso(limit.until)} (reported by {limit.run})"


def _finding_words(found: "Finding") -> str:
    intact = f", {found.intact} events intact" if found.part == "stream" or found.intact else ""
    if found.part == "run" and found.problem.startswith(f"run {found.name} "):
        return f"{found.problem}{intact}"
    return f"{found.part} {found.name}: {found.problem}{intact}"


def _cut_words(cut: "TruncatedStream") -> str:
    if cut.kept and not cut.moved and not cut.lost:
        return f"repaired {cut.stream}: all {cut.kept} events are intact"
    rest = [f"{cut.moved} set aside"] if cut.moved else []
    rest += [f"{cut.lost} lost"] if cut.lost else []
    if not cut.kept:
        return ", ".join([f"lost {cut.stream}: its beginning cannot be read", *rest])
    return ", ".join([f"truncated {cut.stream} to {cut.kept} events", *rest])


def _driver_lines(driver: "DriverInfo | None", held: "tuple[HeldLogins, ...] | None") -> list[str]:
    from handrail.operations.driving.driver_info import describe_environments
    from handrail.operations.views.run_document import iso

    if driver is None:
        return ["background driver   not running"]
    running = f"background driver   running, process {driver.pid}, since {iso(driver.since)}"
    return [running, f"  {describe_environments(held)}"]


def _account_lines(account: "AccountHealth") -> list[str]:
    name = "  github    " if account.host == "github.com" else f"  github    {account.host}: "
    if not account.source:
        return [f"{name}{account.problem} (next: {account.next_step})"]
    token = f"token from {account.source}"
    if account.problem:
        return [f"{name}{token} · {account.problem}", *([f"    {account.next_step}"] if account.next_step else [])]
    parts = [f"{account.login}, {token}"]
    parts += [f"scopes {', '.join(account.scopes) or 'none'}"] if account.scopes is not None else []
    parts += [f"{account.remaining} of {account.limit} calls left"] if account.remaining is not None else []
    lines = [f"{name}{' · '.join(parts)}"]
    if account.starts_no_checks:
        lines.append("    pushes with this token start no checks: it belongs to a job of GitHub Actions")
    return lines


def _account_data(account: "AccountHealth") -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(account)


def _next_lines(found: "Health") -> list[str]:
    if not found.repaired and any(each.part != "blob" for each in found.findings):
        return ["next: handrail doctor --repair"]
    return ["next: handrail status"] if found.cuts else []


def _first_step(place: "Location") -> str:
    """Suggest a first command that fits the current folder: outside a repository, in one, or in one that is set up."""
    from handrail.operations.workflows.list import repository_workflows

    if place.repository is None:
        return "handrail demo, or cd into a repository and handrail init"
    if not (place.repository / ".handrail" / "config.toml").exists():
        return "handrail init, or handrail demo"
    names = repository_workflows(place)
    return f"handrail run {names[0]}{_task(place, names[0])}" if names else "handrail list, then handrail run NAME"


def _task(place: "Location", name: str) -> str:
    """Return a placeholder for the task if the workflow asks for one."""
    from handrail.errors import HandrailError
    from handrail.operations.workflows.inputs import task_input
    from handrail.operations.workflows.inspect import inspect_workflow

    try:
        declared = inspect_workflow(place, name).inputs
    except HandrailError:
        return ""
    return ' "what to do"' if task_input(declared, {}) is not None else ""


def _agent_data(agent: "AgentHealth") -> dict[str, Any]:
    from dataclasses import asdict

    from handrail.operations.agents.health import ORDER

    can = {**asdict(agent.can), "access": [level for level in ORDER if level in agent.can.access]}
    return {
        "name": agent.name,
        "installed": agent.installed,
        "version": agent.version,
        "logged_in": agent.logged_in,
        "next": agent.login if not agent.logged_in else None,
        "can": can,
    }


def _data(found: "Health", held: "tuple[HeldLogins, ...] | None") -> dict[str, Any]:
    from handrail.cli.render.runs import driver_data
    from handrail.operations.views.run_document import iso

    return {
        "healthy": found.is_healthy,
        "tools": [
            {
                "name": each.name,
                "version": each.version,
                "installed": each.installed,
                "problem": each.problem or each.remark,
            }
            for each in found.tools
        ],
        "agents": [_agent_data(each) for each in found.agents],
        "limits": [
            {"agent": each.agent, "until": iso(each.until), "run": each.run, "message": each.message}
            for each in found.limits
        ],
        "database": found.database,
        "findings": [
            {"part": each.part, "name": each.name, "problem": each.problem, "intact": each.intact}
            for each in found.findings
        ],
        "repaired": found.repaired,
        "cuts": [
            {"run": each.stream, "kept": each.kept, "moved": each.moved, "lost": each.lost} for each in found.cuts
        ],
        "copy": found.copy,
        "runs": found.runs,
        "driver": None if found.driver is None else driver_data(found.driver, held),
    }
