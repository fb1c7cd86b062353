"""Starts and finds runs for a program."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TypedDict, Unpack

from handrail.client.drives import NAME, Drives
from handrail.client.run import Run
from handrail.client.values import Drive, InputValue, RunLine, RunListState, convert_row
from handrail.errors import UsageError
from handrail.model.actors import Actor
from handrail.operations.driving.drive import RunClaim
from handrail.operations.driving.follow import PATIENCE
from handrail.operations.runs.lifecycle import find, start
from handrail.operations.runs.prepare import PreparedRun, RunOptions, prepare
from handrail.operations.runs.pull_request_notices import list_pull_request_notices
from handrail.operations.views.run_document import LoggedRuns
from handrail.operations.views.run_listing import ListingRequest, list_runs
from handrail.operations.workflows.inputs import format_given_values
from handrail.sources.tiers import Location, here
from handrail.wiring.issue_runs import IssueStart, read_issue
from handrail.wiring.session import Session, current_actor


class StartOptions(TypedDict, total=False):
    """What a run may be started with, beside its workflow."""

    task: str
    """What is to be done; it fills the `issue` input, or the only required text input."""
    issue: str
    """The issue to work on: `12`, `owner/repo#12`, its address, or a local id; instead of a task."""
    inputs: Mapping[str, InputValue]
    """Values of the inputs that the workflow declares."""
    agent: str
    """The agent of every agent step, such as `claude` or `claude/opus`; `scripted` plays a script."""
    model: str
    """The model of every agent step."""
    script: str | PathLike[str]
    """The script of the scripted agent, or the cassette to replay."""
    base: str
    """The branch from which the work starts; by default the commit that is checked out."""
    in_place: str | PathLike[str]
    """A folder to work in as it is; by default the run gets a worktree of the repository."""
    cwd: str | PathLike[str]
    """The folder in whose repository it runs; by default that of the client."""
    drive: Drive
    """`here` (the default) drives it in this process, `background` in the background driver."""


class Client:
    """The runs of this user, for a Python program; `handrail.open()` opens one."""

    def __init__(
        self, session: Session, actor: Callable[[], Actor] = current_actor, patience: float = PATIENCE
    ) -> None:
        self._session = session
        self._actor = actor
        self._patience = patience
        self._drives = Drives(session)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong beside the runs that this process drives, such as a report on an issue."""
        return tuple(self._drives.warnings)

    async def start(self, workflow: str = "", **options: Unpack[StartOptions]) -> Run:
        """Start a run of a workflow, named or given by its path; with an issue, the configured one is the default.

        The workflow must be trusted: `handrail.errors.Untrusted` says what to do where it is not.
        """
        session = self._session_at(options)
        found = await self._read_issue(session, options)
        wanted = self._collect_options(workflow, options)
        if found is not None:
            wanted = replace(wanted, **found.options(workflow))
        prepared = await asyncio.to_thread(prepare, session.machine, session.place, wanted)
        claim = RunClaim(session.log, NAME)
        try:
            if found is None:
                run = start(session.writer, prepared.request, claim=claim)
            else:
                run = await found.start(session, prepared.request, claim)
            session.keep_environment(run)
            handle = self._make_run(run, options.get("drive", "here"))
            handle.notices = await asyncio.to_thread(_list_notices, session, run, prepared)
            await self._drives.set_going(run, claim, handle.drive)
        except BaseException:
            claim.free()
            raise
        return handle

    async def get(self, run: str, drive: Drive = "here") -> Run:
        """Find a run by its id, a unique prefix of it, or `@last`; it is not driven before it is answered."""
        return self._make_run(find(self._session.log, run), drive)

    async def runs(self, states: Sequence[RunListState] = (), workflow: str | None = None) -> tuple[RunLine, ...]:
        """List the runs that people started, those that need a person first; only some states if they are named."""
        asked = ListingRequest(workflow=workflow, states=tuple(states), every=True)
        return tuple(map(convert_row, list_runs(LoggedRuns(self._session.log), asked).lines))

    async def close(self) -> None:
        """Let go of the runs that this process drives: anybody may resume them."""
        await self._drives.close()

    def _make_run(self, run: str, drive: Drive) -> Run:
        return Run(self._drives, run, drive, self._actor, self._patience)

    def _session_at(self, options: StartOptions) -> Session:
        """Return the session as seen from the folder that is named."""
        return replace(self._session, place=find_place(options["cwd"])) if "cwd" in options else self._session

    async def _read_issue(self, session: Session, options: StartOptions) -> IssueStart | None:
        words = options.get("issue", "")
        if not words:
            return None
        if options.get("task"):
            raise UsageError("an issue is the task of its run, so there is no other one", next_step="omit the task")
        if session.place.repository != self._session.place.repository:
            message = f"the issue {words} belongs to another repository than the one of this client"
            raise UsageError(message, next_step="open a client there: handrail.open(cwd=...)")
        return await read_issue(session, words)

    def _collect_options(self, workflow: str, options: StartOptions) -> RunOptions:
        script, folder = options.get("script"), options.get("in_place")
        return RunOptions(
            workflow,
            options.get("task", ""),
            format_given_values(options.get("inputs", {})),
            None if folder is None else os.fspath(folder),
            by=str(self._actor()),
            agent=options.get("agent", ""),
            model=options.get("model", ""),
            script=None if script is None else os.fspath(script),
            base=options.get("base"),
        )


def find_place(folder: str | PathLike[str]) -> Location:
    """Return a folder with its repository, and the user's folders."""
    path = Path(folder)
    if not path.is_dir():
        raise UsageError(f"the folder {path} does not exist", next_step="name a folder that exists")
    return here(path.absolute(), os.environ)


def _list_notices(session: Session, run: str, prepared: PreparedRun) -> tuple[str, ...]:
    """List what a person should know about a run that starts."""
    if not prepared.pull_requests:
        return prepared.notices
    parts = (session.log, session.machine.repositories, session.system.trackers)
    return (*prepared.notices, *list_pull_request_notices(*parts, run, prepared.pull_requests))
