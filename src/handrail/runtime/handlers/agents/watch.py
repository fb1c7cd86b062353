"""Watches an agent's call while it runs, by the files that it writes: whether it is silent or spends too much.

1. Silence is measured from the last output on disk, so that it continues to count after a crash of ours. Time in which
the machine sleeps does not count, nor time in which a tool of the agent is known to run.
2. What the call has used is read from its output, if its agent reports it; others are judged when the call is over.
3. The output is read here only where a budget or a silence requires it.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, cast

from handrail.frozen import frozen
from handrail.model.history.prices import PriceList
from handrail.model.workflow.values import JsonValue
from handrail.ports.agents import Agent, AgentOutcome, Lines, progress_of
from handrail.ports.processes import Ended, Gone, Processes, TimedOut
from handrail.runtime.handlers.agents.call import compute_spending
from handrail.runtime.handlers.agents.hindrances import WAITS
from handrail.runtime.handlers.commands.start_command import CommandContext

POLL_INTERVAL = 0.5
"""Seconds between checks of a call."""
IDLE_SECONDS = 600.0
"""Default number of seconds of silence after which a call is ended."""
TAIL = 16 << 10
"""How much of the end of an agent's output is read, in bytes."""
CHUNK = 1 << 20


@frozen
class CallTermination:
    """Why we end a call."""

    status: Literal["timeout", "limit"]
    message: str

    def cut_outcome(self, outcome: AgentOutcome) -> AgentOutcome:
        """Apply the reason to the call's outcome: usage and conversation stay, and so does what it was waiting for."""
        waited = self.status == "timeout" and outcome.status in WAITS
        message = self.message + (f" while it was waiting for its service: {outcome.message}" if waited else "")
        return replace(outcome, status=self.status, message=message, retry_after=None, question="")


@dataclass(slots=True)
class CallWatch:
    """Watches one call from outside."""

    processes: Processes
    agent: Agent
    place: Path
    spec: Mapping[str, JsonValue]
    speak: Callable[[], None]
    """Delivers to the agent what people say meanwhile."""
    prices: PriceList
    oldest: float = float("inf")
    """Seconds since the call was decided on when we began to watch: it cannot have been silent for longer."""
    _began: float = field(default_factory=time.monotonic)
    _lines: Lines = field(init=False)
    _read: int = 0
    _rest: bytes = b""
    _seen: tuple[float, ...] = ()
    _since: float = 0.0

    def __post_init__(self) -> None:
        self._lines = self.agent.lines()

    async def wait_for_end(self, effect: CommandContext) -> Ended | Gone | CallTermination:
        """Wait for the end of the call, or for a reason to end it."""
        while True:
            self.speak()
            left = effect.remaining_seconds
            found = await self.processes.wait(
                str(self.place), POLL_INTERVAL if left is None else min(left, POLL_INTERVAL)
            )
            if not isinstance(found, TimedOut):
                return found
            late = CallTermination("timeout", f"it took longer than {effect.timeout} s and was stopped")
            cut = late if effect.remaining_seconds == 0 else self.look()
            if cut is not None:
                return cut

    def look(self) -> CallTermination | None:
        """Return the reason to end the call, if there is one."""
        silent = self._silence()
        return self._cut_overspent() or (self._cut_silent(silent) if silent >= self._idle else None)

    @property
    def has_result(self) -> bool:
        """Whether the agent has given its result, and only its program keeps running."""
        self._catch_up()
        return self._lines.outcome(Ended(1)).status == "ok"

    @property
    def _idle(self) -> float:
        given = self.spec.get("idle_timeout")
        if isinstance(given, int | float):
            return float(given)
        return IDLE_SECONDS if self.agent.can.streams else float("inf")

    def _silence(self) -> float:
        stamps = tuple(
            stamp for name in ("stdout", "stderr") if (stamp := _modification_time(self.place / name)) is not None
        )
        if stamps != self._seen or not self._since:
            # The wall clock only measures the time before we watched: it counts while the machine sleeps.
            before = time.time() - max(stamps, default=time.time())
            now = time.monotonic()
            self._seen, self._since = stamps, now - max(0.0, min(before, self.oldest + now - self._began))
        return time.monotonic() - self._since

    def _cut_silent(self, seconds: float) -> CallTermination | None:
        self._catch_up()
        if progress_of(self._lines).at_work:
            return None
        last = describe_last_line(self.processes, self.agent, self.place)
        shown = f"; last: {last}" if last else ""
        return CallTermination("timeout", f"it printed nothing for {seconds:.0f} s and was stopped{shown}")

    def _cut_overspent(self) -> CallTermination | None:
        room = self.spec.get("room")
        if not isinstance(room, dict):
            return None
        self._catch_up()
        found = progress_of(self._lines)
        priced = {**self.spec, "model": found.model or self.spec.get("model")}
        took = compute_spending(found.usage, found.cost, priced, 0.0, self.prices)
        for name, left in cast("dict[str, float]", room).items():
            if took[name] > left:
                words = f"it has used {_amount(name, took[name])}, but only {_amount(name, left)} were left"
                return CallTermination(
                    "limit", f"the budget was used up while it was working, so it was stopped: {words}"
                )
        return None

    def _catch_up(self) -> None:
        """Read the complete lines that were printed since the last check."""
        try:
            with (self.place / "stdout").open("rb") as printed:
                printed.seek(self._read)
                while chunk := printed.read(CHUNK):
                    self._read += len(chunk)
                    *lines, self._rest = (self._rest + chunk).split(b"\n")
                    for line in lines:
                        self._lines.feed(line)
        except FileNotFoundError:
            return


def describe_last_line(processes: Processes, agent: Agent, place: Path) -> str | None:
    """Describe the newest informative line of a call, read from the end only."""
    data = processes.read_output(str(place), "stdout", TAIL, tail=True)
    # The last line may be incomplete, and so may the first one where the tail was cut.
    whole = data.split(b"\n")[1 if len(data) >= TAIL else 0 : -1]
    return next((said for line in reversed(whole) if (said := agent.describe_line(line)) is not None), None)


def _modification_time(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return None


def _amount(name: str, amount: float) -> str:
    return f"${amount:.2f}" if name == "usd" else f"{amount:,.0f} {name}"
