"""What an agent is doing right now: the newest informative line of its output, read from the end only."""

from dataclasses import dataclass, field
from pathlib import Path

from handrail.errors import HandrailError
from handrail.ports.agents import Agents
from handrail.ports.processes import Processes
from handrail.runtime.handlers.agents.handler import SLOT
from handrail.runtime.handlers.agents.watch import describe_last_line

MAX_KNOWN = 64


@dataclass(slots=True)
class CallActivity:
    """Reads the output of calls under way; a call that has printed nothing since is not read again."""

    processes: Processes
    agents: Agents
    folder: Path
    _known: dict[Path, tuple[int, str]] = field(default_factory=dict[Path, tuple[int, str]])

    def describe_activity(self, run: str, seq: int, agent: str | None) -> str:
        """Describe what the agent called by the intent `seq` of a run is doing; empty while that is not known."""
        place = newest_start(self.folder / run / str(seq))
        size, before = self._known.get(place, (0, ""))
        try:
            now = (place / "stdout").stat().st_size
            if now == size:
                return before
            found = describe_last_line(self.processes, self.agents.find(agent), place) or before
        except (OSError, HandrailError):
            return before
        if len(self._known) >= MAX_KNOWN:
            self._known.clear()
        self._known[place] = now, found
        return found


def newest_start(base: Path) -> Path:
    """Return the folder of the newest start of a call."""
    again = 0
    while (base / f"{SLOT}.{again + 1}").is_dir():
        again += 1
    return base / f"{SLOT}.{again}"
