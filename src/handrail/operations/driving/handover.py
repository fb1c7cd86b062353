"""Hands runs over to the background driver, with the environment of the process that hands over."""

import contextlib
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import field

from handrail.errors import StorageFault
from handrail.frozen import frozen
from handrail.model.actors import is_agents
from handrail.model.history.events import RunForked, RunStarted
from handrail.model.history.run_lines import Filter
from handrail.operations.driving.background_driver import ensure, find_background_driver
from handrail.operations.views.run_tree import root_of
from handrail.ports.environments import DriverEnvironments, HandoverOutcome
from handrail.ports.log import Log
from handrail.ports.programs import Programs
from handrail.runtime.event_records import decode_event
from handrail.runtime.run_writer import RunClaim, attendant_of
from handrail.sources.folders import Folders

_CONSUMED_WITHIN = 1.0
_POLL_INTERVAL = 0.01
_TRIES = 5
"""How often an environment is offered to a background driver that is just ending."""


@frozen
class Handover:
    """Hands a run over to the background driver, with the environment of this process."""

    folders: Folders
    programs: Programs
    log: Log
    environments: DriverEnvironments
    choose: Callable[[str], Mapping[str, str]]
    """Chooses which part of this process's environment a run gets."""
    _offered: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]], init=False)
    """The runs for which an environment was offered, each with the driver to which it was offered."""

    def hand_over(self, root: str, *, instead: bool = False) -> "HandoverResult":
        """Make sure that a background driver runs, and that it holds an environment for one of our runs."""
        for _ in range(_TRIES):
            driver = ensure(self.folders, self.programs)
            handed = self.environments.offer(root, self.choose(root), instead=instead)
            if handed != "gone":
                return HandoverResult(driver.pid, handed)
            # It is just ending, with its lock still held, or it died.
            time.sleep(_POLL_INTERVAL)
        return HandoverResult(ensure(self.folders, self.programs).pid, "gone", root)

    def wake(self, root: str) -> None:
        """Let a run continue in the background driver, with this environment if it has none yet."""
        with self._attend_run(root):
            self.hand_over(root)

    def offer_once(self, root: str) -> None:
        """Offer an environment for a run to a running background driver; each driver is asked once."""
        driver = find_background_driver(self.folders)
        if driver is None or not driver.socket or (root, driver.pid) in self._offered:
            return
        with self._attend_run(root):
            self.offer(root)
        self._offered.add((root, driver.pid))

    @contextlib.contextmanager
    def _attend_run(self, root: str) -> Generator[None]:
        """Keep the background driver away from a run until it holds the environment; an existing claim stays."""
        claim = RunClaim(self.log, "handrail")
        claim.attend(root)
        try:
            yield
        finally:
            claim.free()

    def offer(self, root: str, *, instead: bool = False) -> HandoverOutcome:
        """Offer an environment for a run to a running background driver, which may have to drive the run later."""
        return self.environments.offer(root, self.choose(root), instead=instead)


@frozen
class HandoverResult:
    """Where a run continues, and what happened to the environment that was handed over for it."""

    pid: int
    handed: HandoverOutcome = "kept"
    run: str = ""

    @property
    def warning(self) -> str:
        """What a person has to know; empty if all is well."""
        if self.handed == "older":
            return (
                f"the background driver (process {self.pid}) is from an older version and cannot take your "
                f"environment: agents get the one it was started with; to change that: kill {self.pid}, then resume"
            )
        if self.handed == "gone":
            return (
                "the background driver did not take your environment: agents get its own, without the logins "
                "in your variables; to pass yours to the run: "
                f"handrail resume {self.run}"
            )
        return ""


def keep_going(over: Handover, run: str, *, instead: bool = False) -> HandoverResult:
    """Let a run continue after a message: in the process that drives it, or else in the background driver."""
    log = over.log
    holder = log.holder(run)
    until = time.monotonic() + _CONSUMED_WITHIN
    while holder is not None and time.monotonic() < until:
        if not log.inbox(run, limit=1):
            return HandoverResult(holder.pid)
        # It may have looked for the last time just before we wrote, and be about to exit.
        time.sleep(_POLL_INTERVAL)
        holder = log.holder(run)
    return over.hand_over(root_of(log, run), instead=instead)


@frozen
class AttendedRuns:
    """Answers what the background driver checks in the log before it holds an environment for a run."""

    log: Log

    def can_hand_over(self, run: str, pid: int, *, by_agent: bool) -> bool:
        """Return whether a process attends to a run; an agent may decide only for a run that an agent started."""
        attendant = attendant_of(self.log, run)
        if attendant is None or (pid and attendant.pid != pid):
            return False
        return not by_agent or is_agents(_starter(self.log, run))

    def is_done(self, run: str) -> bool:
        """Return whether a run has ended for good; a failed one may be resumed."""
        with contextlib.suppress(StorageFault):
            return bool(self.log.keys(Filter(key=run, statuses=("succeeded", "cancelled"))))
        return False


def _starter(log: Log, run: str) -> str:
    """Return who started a run, according to its first event."""
    first = (decode_event(each) for each in log.read(run, 0, 1))
    return next((each.by for each in first if isinstance(each, RunStarted | RunForked)), "")
