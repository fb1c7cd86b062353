"""Scripted agents that say in a file that they are at work, and stay there until they may go."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from handrail.store.sqlite.log import open_log
from support.cli.running import until
from support.issue_to_merge.host_room import HostRoom

WORKS = """\
name: NAME
input: {issue: issue}
steps:
  - {name: work, agent: scripted, prompt: "Do {{ issue.title }}"}
"""
# The name of the worktree is that of its run.
TURN = """\
echo "in ${PWD##*/}" >> "$TRACE"; while [ ! -e "$TRACE.${PWD##*/}" ]; do sleep 0.05; done; \
echo "out ${PWD##*/}" >> "$TRACE"
"""
PATIENCE = 120.0


@dataclass(frozen=True, slots=True)
class WaitingAgents:
    """The agents of a room, at most so many at once."""

    room: HostRoom
    cap: int

    def __post_init__(self) -> None:
        script = TURN.replace("$TRACE", str(self.trace)).strip()
        (self.room.box.base / "play.yaml").write_text(f"work: {{run: '{script}', say: Done., repeat: true}}\n")
        self.room.add("works", WORKS)
        self.room.box.write_own("config.toml", f"[resources]\nmax_concurrent_instances = {self.cap}\n")

    @property
    def trace(self) -> Path:
        """The file in which they say what they do."""
        return self.room.box.base / "trace"

    @property
    def words(self) -> tuple[str, ...]:
        """Which agent works, for the command line."""
        return ("--agent", "scripted", "--script", str(self.room.box.base / "play.yaml"))

    def came(self) -> list[str]:
        """List the runs whose agents have begun to work, in this order."""
        return self._lines("in")

    def left(self) -> list[str]:
        """List the runs whose agents have ended."""
        return self._lines("out")

    def let_go(self, run: str) -> None:
        """Let the agent of a run end its work."""
        Path(f"{self.trace}.{run}").touch()

    def wait_for(self, count: int) -> list[str]:
        """Wait until so many agents have begun to work, and list their runs."""
        until(lambda: len(self.came()) >= count, PATIENCE)
        return self.came()

    def order_of(self, kind: str, runs: list[str]) -> list[str]:
        """Sort runs by when their event of a kind was recorded."""
        with closing(open_log(self.room.box.home / "data")) as log:
            at = {run: next(each.position for each in log.read(run) if each.kind == kind) for run in runs}
        return sorted(runs, key=at.__getitem__)

    def _lines(self, word: str) -> list[str]:
        found = self.trace.read_text("utf-8").splitlines() if self.trace.exists() else []
        return [run for each, _, run in (line.partition(" ") for line in found) if each == word]
