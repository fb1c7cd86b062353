"""A run in the hands of a program: its events, its result, and what a person may do with it."""

import asyncio
from collections.abc import AsyncIterator, Callable

from handrail.client.drives import NAME, Drives, finish
from handrail.client.events import RunEvent, convert_event
from handrail.client.values import Drive, RunResult, RunState, read_result, read_state
from handrail.model.actors import Actor
from handrail.model.history.events import Decision
from handrail.operations.driving.answer_family import answer_family, decide_family
from handrail.operations.driving.drive import RunClaim, wait_until_inbox_empty
from handrail.operations.driving.follow import FollowedRun
from handrail.operations.driving.resume import resume_family, stop_family
from handrail.operations.driving.stop_damaged import stop_damaged
from handrail.operations.runs.person_only import PersonCommand, require_person
from handrail.operations.views.run_tree import holder_of, refuse_if_driven, root_of
from handrail.wiring.session import Session

DECIDES = "it makes a decision that a run asked a person for"
WHY = {
    "approve": DECIDES,
    "revise": DECIDES,
    "reject": DECIDES,
    "answer": "it answers a question that an agent asked a person",
    "stop": "it ends a run for good",
    "resume": "it continues a run, even where that costs more",
}
"""What is reserved for people, as on the command line."""
FOR_CHILDREN = ("stop", "resume")
"""What an agent may do with runs that its own run started."""


class Run:
    """One run of a client; several handles, also of several processes, may stand for the same run."""

    def __init__(self, drives: Drives, run: str, drive: Drive, actor: Callable[[], Actor], patience: float) -> None:
        self._drives = drives
        self._id = run
        self._drive: Drive = drive
        self._actor = actor
        self._patience = patience
        self.notices: tuple[str, ...] = ()
        """What a person should know about how it was started."""

    def __repr__(self) -> str:
        return f"<Run {self._id}>"

    @property
    def id(self) -> str:
        """Its id, such as `fix-bug-1`."""
        return self._id

    @property
    def drive(self) -> Drive:
        """Which process continues it when this handle is used: this one, or the background driver."""
        return self._drive

    async def events(self, after: int = 0) -> AsyncIterator[RunEvent]:
        """Yield its events with a position above `after`, those of the runs it started included, as they happen.

        The iterator ends when the run has ended, needs a person, or is driven by no process.
        """
        async for stored in self._follow().events(after):
            yield convert_event(stored)

    async def state(self) -> RunState:
        """Return its present state."""
        return read_state(self._session.log, self._id)

    async def result(self) -> RunResult:
        """Wait until it has ended or needs a person, and return which; raise what kept this process from driving it."""
        await self._follow().wait_until_at_rest()
        return read_result(self._session.log, self._id)

    async def approve(self, comment: str = "") -> None:
        """Approve what it asks for, and let it continue."""
        await self._decide("approve", comment)

    async def revise(self, text: str) -> None:
        """Send back what it asks approval for, with what should change, and let it continue."""
        await self._decide("revise", text)

    async def reject(self, reason: str = "") -> None:
        """Reject what it asks for."""
        await self._decide("reject", reason)

    async def answer(self, text: str) -> None:
        """Answer the question of its agent, and let it continue."""
        by = self._require_person("answer")
        await self._send(lambda: answer_family(self._session.writer, self._id, text, by))

    async def resume(self) -> None:
        """Let it continue after a pause, a failure, an interruption, or once what blocked it is fixed."""
        by = self._require_person("resume")
        refuse_if_driven(self._session.log, self._id)
        await self._send(lambda: resume_family(self._session.writer, self._id, by), self._id)

    async def stop(self, reason: str = "") -> None:
        """Stop it for good with everything that it started, and return once that is recorded."""
        by, session = self._require_person("stop"), self._session
        parts = (session.writer, session.machine.processes, session.system.folder, self._id, by)
        if self._id in await asyncio.to_thread(stop_damaged, *parts):
            return
        claim = RunClaim(session.log, NAME)
        session.attend(self._id, claim)
        _send_or_free(claim, lambda: stop_family(session.writer, self._id, by, reason))
        if self._drives.is_driving(self._id) or holder_of(session.log, self._id) is not None:
            claim.free()
            self._drives.wake(self._id)
            await wait_until_inbox_empty(session.log, self._id)
        else:
            await finish(self._drives.begin(self._id, claim))

    @property
    def _session(self) -> Session:
        return self._drives.session

    def _follow(self) -> FollowedRun:
        session = self._session
        return FollowedRun(
            session.log, session.system.folder, self._id, self._patience, lambda: self._drives.find(self._id)
        )

    def _require_person(self, command: str) -> str:
        """Refuse what only a person may do to the agent in whose step this program runs; return who it is."""
        actor = self._actor()
        asked = PersonCommand(command, WHY[command], self._id, for_children=command in FOR_CHILDREN)
        require_person(self._session.writer, actor, asked)
        return str(actor)

    async def _decide(self, decision: Decision, text: str) -> None:
        by = self._require_person(decision)
        await self._send(lambda: decide_family(self._session.writer, self._id, decision, by, text))

    async def _send(self, send: Callable[[], None], run: str = "") -> None:
        """Send a message to the run, and let the run or the whole family that it belongs to continue."""
        session, log = self._session, self._session.log
        run = run or root_of(log, self._id)
        claim = RunClaim(log, NAME)
        instead = session.attend(run, claim)
        _send_or_free(claim, send)
        if self._drives.is_driving(run):
            claim.free()
            self._drives.wake(run)
        elif holder_of(log, run) is not None:
            claim.free()
            await wait_until_inbox_empty(log, run)
        else:
            await self._drives.set_going(run, claim, self._drive, instead=instead)


def _send_or_free(claim: RunClaim, send: Callable[[], None]) -> None:
    try:
        send()
    except BaseException:
        claim.free()
        raise
