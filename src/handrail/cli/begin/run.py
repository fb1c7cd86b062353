"""`handrail run`."""

import sys
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.options import complete_workflows, current_place, detach_option, json_option, tmux_option
from handrail.cli.output import note

if TYPE_CHECKING:
    from handrail.cli.begin.issue_start import IssueStart
    from handrail.operations.runs.lifecycle import Request
    from handrail.operations.runs.prepare import PreparedRun, RunOptions
    from handrail.ports.machine import Machine
    from handrail.sources.tiers import Location
    from handrail.wiring.session import Session

CASSETTE = "cassette"
"""The agent that replays a recording."""


@click.command("run", epilog='Example: handrail run fix-bug "login times out after 30 s" --input base=main')
@click.argument("workflow", metavar="NAME|PATH", required=False, default="", shell_complete=complete_workflows)
@click.argument("task", required=False, default="")
@click.option("--issue", metavar="ISSUE", help="Work on this issue: 12, owner/repo#12, its address, or a local id.")
@click.option("--ready", is_flag=True, help="Work on every issue that is ready, in order; in the background.")
@click.option("-n", "at_once", type=click.IntRange(min=1), help="With --ready: at most so many at a time; default 3.")
@click.option("--label", "labels", metavar="LABEL", multiple=True, help="With --ready: only issues with this label.")
@click.option("--input", "inputs", metavar="NAME=VALUE", multiple=True, help="Set an input; may be repeated.")
@click.option("--in", "folder", metavar="DIR", help="Work in DIR as it is; default: a worktree of the repository.")
@click.option("--base", metavar="BRANCH", help="Start from BRANCH; default: the commit that is checked out.")
@click.option("--with-changes", is_flag=True, help="Include the uncommitted changes of your checkout.")
@click.option("--agent", default="", metavar="NAME[/MODEL]", help="Use this agent for every agent step.")
@click.option("--model", default="", metavar="MODEL", help="Use this model for every agent step.")
@click.option("--script", metavar="FILE", help="Script of the scripted agent, or cassette to replay.")
@click.option("--record", metavar="FILE", help="Record what the agents do to FILE, as a cassette.")
@click.option("--strict", is_flag=True, help="Fail where a prompt differs from the recorded one.")
@tmux_option
@detach_option
@json_option
def command(*, detach: bool, as_json: bool, record: str | None, **wanted: Any) -> int:
    """Run a workflow here, and show each step as it happens.

    TASK fills the `issue` input, or the only required text input. Ctrl-C pauses; nothing is lost.
    """
    from handrail.cli.live.follow_run import continue_detached, watch
    from handrail.operations.driving.drive import RunClaim
    from handrail.operations.runs.lifecycle import start
    from handrail.operations.runs.prepare import RunOptions
    from handrail.wiring.session import current_actor, open_session

    issue, ready = wanted.pop("issue"), wanted.pop("ready")
    at_once, labels = wanted.pop("at_once"), wanted.pop("labels")
    if record is not None:
        _require_recordable(record, wanted["agent"], detach=detach or ready)
    narrowed, folder = bool(at_once or labels), wanted["folder"]
    _require_one_purpose(issue, ready=ready, task=wanted["task"], narrowed=narrowed, folder=folder)
    place, actor = current_place(), current_actor()
    if ready:
        from handrail.cli.begin.run_ready import ReadyOptions, run_ready

        options = RunOptions(**wanted, by=str(actor))
        return run_ready(place, ReadyOptions(options, at_once or 3, labels, as_json, actor.decides))
    found = _read_issue(place, issue) if issue is not None else None
    if found is not None:
        wanted |= found.options(wanted["workflow"])
    prepared = prepare_run(place, RunOptions(**wanted, by=str(actor)), may_ask=actor.decides and not as_json)
    with open_session() as session:
        claim = RunClaim(session.log, "handrail run")
        request = build_request(session, prepared, with_changes=wanted["with_changes"])
        run = start(session.writer, request, claim=claim) if found is None else found.start(session, request, claim)
        _introduce(session, run, prepared, as_json=as_json)
        tell_pull_requests(session, run, prepared.pull_requests)
        if wanted["tmux"]:
            open_windows(session, run)
        if not wanted["with_changes"]:
            tell_left_out(prepared.left_out)
        watched = watch(session, run, "handrail run", as_json=as_json, claim=claim)
        if detach:
            return continue_detached(watched)
        try:
            return watched.go()
        finally:
            if record is not None or wanted["agent"] == CASSETTE:
                _tell_recorded(session, run, record)


def _require_one_purpose(issue: str | None, *, ready: bool, task: str, narrowed: bool, folder: str | None) -> None:
    from handrail.errors import UsageError

    if ready and issue is not None:
        raise UsageError("--ready takes the issues that are ready, and --issue one of them", next_step="omit one")
    if task and (ready or issue is not None):
        what = "--ready" if ready else "--issue"
        raise UsageError(f"with {what} the issue is the task, so there is no other one", next_step=f"omit {task!r}")
    if ready and folder is not None:
        message = "with --in, all runs on ready issues would work in the same folder"
        raise UsageError(message, next_step="omit --in: each run has a worktree of its own")
    if narrowed and not ready:
        raise UsageError("-n and --label choose among ready issues", next_step="add --ready, or omit them")


def _read_issue(place: "Location", words: str) -> "IssueStart":
    from handrail.cli.begin.issue_start import read_issue

    return read_issue(place, words)


def tell_pull_requests(session: "Session", run: str, steps: tuple[str, ...]) -> None:
    """Say which steps can open no pull request here, and what they do instead."""
    if not steps:
        return
    from handrail.operations.runs.pull_request_notices import list_pull_request_notices

    system = session.system
    for notice in list_pull_request_notices(session.log, session.machine.repositories, system.trackers, run, steps):
        note(notice)


def open_windows(session: "Session", run: str) -> None:
    """Let each agent of a run have a window in tmux."""
    from handrail.operations.views.attach import request_agent_windows

    request_agent_windows(session.machine.windows, session.system.folder / "runs", run)
    note(f"each agent has a window in tmux: handrail attach {run}")


def _require_recordable(record: str, agent: str, *, detach: bool) -> None:
    """Refuse at the start what could only fail at the end."""
    from pathlib import Path

    from handrail.errors import UsageError

    if detach:
        raise UsageError("--record needs this process until the run ends", next_step="leave out --detach")
    if agent == CASSETTE:
        raise UsageError("a replay records nothing new", next_step="leave out --record")
    if not Path(record).absolute().parent.is_dir():
        raise UsageError(f"--record {record}: there is no such folder", next_step="name a file in a folder that exists")


def _tell_recorded(session: "Session", run: str, record: str | None) -> None:
    """Write the cassette; after a replay, report which prompts differed from the recorded ones."""
    from pathlib import Path

    from handrail.cli.render.safe_text import escape_controls
    from handrail.operations.delivery.cassette import Recording

    system = session.system
    recording = Recording(
        session.log, system.workspaces, session.machine.processes, session.machine.redactor(), system.folder / "runs"
    )
    if record is not None:
        Path(record).write_bytes(recording.cassette(run))
        note(f"recorded {record}")
        return
    for drift in recording.drifts(run):
        note(f"warning: {escape_controls(drift)}")


def _introduce(session: "Session", run: str, prepared: "PreparedRun", *, as_json: bool) -> None:
    """Announce the run: its name, its version, what it may use at most and where it works.

    The worktree is shown only on a terminal; a folder that is used as it is, everywhere.
    """
    from handrail.cli.live.area import terminal_columns
    from handrail.cli.live.view import is_live
    from handrail.cli.render.layout import flow, short_path
    from handrail.cli.render.safe_text import escape_controls
    from handrail.operations.runs.worktree_source import future_tree
    from handrail.operations.views.money import budget_words
    from handrail.operations.workflows.condition_text import bound_words, short_hash

    pinned = short_hash(prepared.request.pinned.definition)
    most = budget_words(prepared.request.pinned.plan.budget)
    bound = ", ".join(part for part in (bound_words(prepared.bound), most) if part)
    parts = [f"run {run}", f"pinned {pinned}", bound]
    live, in_place = is_live(as_json=as_json), prepared.request.source is None
    if not live:
        if in_place:
            parts.append(f"works in {escape_controls(prepared.request.workspace)}")
        click.echo(" · ".join(parts), err=as_json)
        return
    tree = future_tree(session.system.workspaces, prepared.request.source, run)
    columns = terminal_columns()
    where, path = ("works in", prepared.request.workspace) if in_place else ("worktree", tree)
    if path is not None:
        parts.append(f"{where} {escape_controls(short_path(path, columns - len(f'  {where} ')))}")
    click.echo("\n".join(flow(parts, columns, between=" · ")))


def tell_left_out(files: tuple[str, ...]) -> None:
    """Say that uncommitted files are not part of a run."""
    if files:
        count = "1 uncommitted file is" if len(files) == 1 else f"{len(files)} uncommitted files are"
        note(f"{count} not part of this run (--with-changes includes them)")


def build_request(session: "Session", prepared: "PreparedRun", *, with_changes: bool) -> "Request":
    """Return what the run starts from, with the uncommitted files of the checkout if they were requested."""
    from dataclasses import replace

    from handrail.operations.runs.worktree_source import include_uncommitted_changes

    source = prepared.request.source
    if not with_changes or source is None or not prepared.left_out:
        return prepared.request
    return replace(
        prepared.request,
        source=include_uncommitted_changes(session.system.workspaces, session.machine.repositories, source),
    )


def prepare_run(place: "Location", wanted: "RunOptions", *, may_ask: bool, is_told: bool = False) -> "PreparedRun":
    """Prepare the run; on a terminal, ask for the trust that is missing. What `is_told` already is not said again."""
    from handrail.errors import Untrusted
    from handrail.operations.runs.prepare import prepare
    from handrail.wiring.machine import this_machine

    machine = this_machine()
    while True:
        try:
            prepared = prepare(machine, place, wanted)
        except Untrusted:
            if not may_ask or not sys.stdin.isatty() or not _ask_for_trust(machine, place, wanted.workflow):
                raise
        else:
            if is_told:
                return prepared
            if prepared.diagnostics:
                from handrail.cli.render.diagnostics import render_diagnostics

                note(render_diagnostics(prepared.diagnostics))
            for notice in prepared.notices:
                note(notice)
            return prepared


def _ask_for_trust(machine: "Machine", place: "Location", workflow: str) -> bool:
    from handrail.cli.render.trust import render_question
    from handrail.operations.runs.prepare import find_missing_trust
    from handrail.operations.workflows.trust import grant

    question = find_missing_trust(machine, place, workflow)
    if question is None:
        return False
    click.echo(render_question(question), err=True)
    if not click.confirm("Trust this content?", err=True):
        return False
    grant(place, question)
    return True
