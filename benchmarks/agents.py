"""What Handrail costs beside an agent: around each call, in reading what it prints, and in memory while it works.

Run with `python benchmarks/agents.py`, or `--quick`. The real Claude Code and Codex, where their packages are
installed, answer from a scripted model on loopback; a bare call and a step of a run with the same words take turns, so
that a machine that is busy for a while is busy for both. Figures are medians; times of the processor count for reading,
times of the clock for calls, which say nothing on a machine with other work to do.
"""

import argparse
import asyncio
import json
import os
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from agent_place import THINKING, Place, model_aside, prepare_agents
from handrail.agents.described.adapter import CommandAgent
from handrail.agents.registry import KnownAgents
from handrail.model.secrets.redaction import Redactor
from handrail.ports.agent_definitions import AgentDefinition
from handrail.ports.agents import AgentCall
from handrail.ports.processes import Ended
from handrail.processes.mask_output import MaskedFile, read_masked
from handrail.processes.secret_forms import FORMS
from handrail.wiring.system import ENVIRONMENTS, System

RECORDED = Path(__file__).parents[1] / "tests" / "agents" / "recorded"
MOST_MS, MOST_SHARE, LEAST_MB, MOST_MB = 50.0, 5.0, 50.0, 1.0
LONGEST = 120.0
SECRETS = {"DEPLOY_TOKEN": "a1b2c3d4e5f60718", "DB_PASSWORD": 'pa"ss/wo\\rd-1', "API_KEY": "0123456789abcdefxyz"}


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    rounds: int = 21
    megabytes: int = 16
    agents: int = 20


QUICK = Sizes(7, 4, 5)


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure beside its aim."""

    text: str
    value: str
    aim: str
    reached: bool | None
    """None where the machine was too busy to tell."""

    def line(self) -> str:
        """Say how it went."""
        how = "unclear" if self.reached is None else "reached" if self.reached else "MISSED"
        return f"{how:8} {self.text:78}{self.value:>28}  (aim {self.aim})"


@dataclass(frozen=True, slots=True)
class Taken:
    """The milliseconds of one call, of which the agent itself took some."""

    whole: float
    agent: float

    @property
    def around(self) -> float:
        """What was done before the agent began and after it had ended."""
        return self.whole - self.agent


@dataclass(slots=True)
class Beside:
    """Bare calls, and steps with the same words.

    The same agent takes longer or shorter by a tenth from call to call, which is more than is measured here. So what
    is around it counts, in both, and what it takes itself is told beside that.
    """

    agent: str
    script: str
    words: str
    bare: list[Taken] = field(default_factory=list[Taken])
    ours: list[Taken] = field(default_factory=list[Taken])

    def round(self, place: Place, prompt: str) -> None:
        """Measure both once, each of them first in every other round."""
        if len(self.ours) % 2:
            self.bare.append(_bare(place, self.agent, prompt))
        self.ours.append(_ours(place, self.agent, self.script)[0])
        if len(self.bare) < len(self.ours):
            self.bare.append(_bare(place, self.agent, prompt))

    def figures(self) -> Iterator[Figure]:
        """Say what a step adds to the bare call: the median of the rounds, and between what half of them lie."""
        bare = statistics.median(each.whole for each in self.bare)
        text = f"a step with {self.agent}, {self.words}, beyond the bare call of {bare:.0f} ms"
        more = [ours.around - alone.around for ours, alone in zip(self.ours, self.bare, strict=True)]
        for unit, scale, aim in (("ms", 1.0, MOST_MS), ("%", 100 / bare, MOST_SHARE)):
            low, middle, high = (each * scale for each in statistics.quantiles(more, n=4))
            # What lies on both sides of the aim says more about the machine than about us.
            clear = high <= aim or low > aim
            value = f"{middle:.1f} ({low:.1f} to {high:.1f}) {unit}"
            yield Figure(text, value, f"{aim:.0f} {unit}", middle <= aim if clear else None)
        slower = [ours.agent - alone.agent for ours, alone in zip(self.ours, self.bare, strict=True)]
        low, middle, high = statistics.quantiles(slower, n=4)
        value = f"{middle:.0f} ({low:.0f} to {high:.0f}) ms"
        yield Figure(f"what {self.agent} itself takes longer there", value, "0 ms", True if low <= 0 <= high else None)


def _ours(place: Place, agent: str, script: str = "say") -> tuple[Taken, str]:
    """Run a step, from when its call is written down until what follows is, since a step waits for one write.

    Gives its prompt, too.
    """
    run = place.start(agent, script)
    place.drive()
    began, ended = place.written(run)
    since, until = place.stamped()
    return Taken((ended.at - began.at) * 1000, (until - since) * 1000), str(began.spec["prompt"])


def _bare(place: Place, name: str, prompt: str) -> Taken:
    """Call the agent as a person would, with the arguments that Handrail gives it."""
    agent = KnownAgents().find(name)
    call = AgentCall(run="", address="one", turn=1, prompt=prompt, workspace="", access="full")
    tree, folder = place.worktree(), tempfile.mkdtemp(dir=place.root)
    launch = agent.launch(replace(call, workspace=tree), folder)
    env = {**ENVIRONMENTS.environment_of("").variables(agent.variables), **dict(launch.env)}
    began = time.perf_counter()
    subprocess.run(launch.argv, cwd=tree, env=env, input=launch.stdin, check=True, capture_output=True, timeout=LONGEST)
    whole = time.perf_counter() - began
    since, until = place.stamped()
    return Taken(whole * 1000, (until - since) * 1000)


def overhead(place: Place, names: Sequence[str], rounds: int) -> Iterator[Figure]:
    """Measure what a step adds to a call, for every agent that is here.

    Beside a model that answers at once, which no real one does, and beside one that thinks as long as a fast one.
    """
    for each in names:
        for script, words in (("say", "answered at once"), ("think", f"answered after {THINKING} s")):
            found, (_, prompt) = Beside(each, script, words), _ours(place, each, script)
            for _ in range(rounds):
                found.round(place, prompt)
            yield from found.figures()


def reading(streams: dict[str, tuple[str, bytes]], megabytes: int) -> Iterator[Figure]:
    """Measure how fast what agents print is masked in its file, and read once they have ended."""
    for title, (agent, data) in streams.items():
        whole = data * max(1, (megabytes << 20) // len(data))
        size, redactor = len(whole) / 1e6, Redactor(SECRETS, FORMS)
        with tempfile.TemporaryDirectory(prefix="handrail-bench-") as folder:
            path = Path(folder) / "stdout"
            path.write_bytes(whole)
            masked = size / _took(partial(_mask, path, redactor))
            read = size / _took(partial(_read, path, redactor, agent))
        yield Figure(f"mask {title}", f"{masked:.0f} MB/s", f"{LEAST_MB:.0f} MB/s", masked >= LEAST_MB)
        yield Figure(f"read {title}", f"{read:.0f} MB/s", f"{LEAST_MB:.0f} MB/s", read >= LEAST_MB)


def _mask(path: Path, redactor: Redactor) -> None:
    """What the keeper does while an agent works."""
    MaskedFile(path, redactor).look(last=True)


def _read(path: Path, redactor: Redactor, agent: str) -> None:
    """What the driver does once the agent has ended."""
    lines = KnownAgents().find(agent).lines()
    for line in read_masked(path, redactor, 1 << 30, tail=False, again=True).splitlines():
        lines.feed(line)
    lines.outcome(Ended(0))


def _took(work: Callable[[], object]) -> float:
    """The shortest of three times, in seconds of the processor: what others do on the machine does not count."""
    times: list[float] = []
    for _ in range(3):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def streams(place: Place, names: Sequence[str]) -> dict[str, tuple[str, bytes]]:
    """Give what agents print: the short recorded calls of the tests, and a longer one of those that are here."""
    found: dict[str, tuple[str, bytes]] = {}
    # Not the scripted agent: it plays in tests, and prints next to nothing.
    real = (each for each in RECORDED.iterdir() if each.name in KnownAgents().names and each.name != "scripted")
    for folder in sorted(real):
        data = b"".join(each.read_bytes() for each in sorted(folder.glob("*.jsonl")))
        found[f"{folder.name}, recorded lines of {_mean(data)} bytes"] = (folder.name, data)
    for each in names:
        run = place.start(each, f"work-{each}")
        place.drive()
        place.stamped()
        data = place.transcript(run)
        found[f"{each}, a call with tools, lines of {_mean(data)} bytes"] = (each, data)
    return found


def _mean(data: bytes) -> int:
    return len(data) // max(1, data.count(b"\n"))


def memory(place: Place, many: int) -> Iterator[Figure]:
    """Measure what Handrail's own processes take for each agent that is at work."""
    idle = KnownAgents({"idle": lambda: CommandAgent(AgentDefinition(name="idle", command=("sleep", "600")))})
    system = replace(place.system, agents=idle)
    for _ in range(many):
        place.start("idle", "none")
    driver, keepers = asyncio.run(_working(system, many))
    yield Figure(
        f"memory of the driver for each of {many} agents", f"{driver:.2f} MB", f"{MOST_MB:.0f} MB", driver <= 1
    )
    yield Figure("memory of the keeper of an agent", f"{keepers:.1f} MB", "12 MB", keepers <= 12)


async def _working(system: System, many: int) -> tuple[float, float]:
    before = _megabytes(os.getpid())
    supervisor = system.supervisor("bench")
    supervisor.limit = many
    driving = asyncio.ensure_future(supervisor.run_until_idle())
    while len(found := _records(system.folder)) < many:
        await asyncio.sleep(0.05)
    grown = (_megabytes(os.getpid()) - before) / many
    keepers = statistics.median(_megabytes(each["pid"]) for each in found)
    for each in found:
        os.kill(each["command"], signal.SIGTERM)
    await driving
    return grown, keepers


def _records(folder: Path) -> list[dict[str, int]]:
    found = (json.loads(path.read_bytes()) for path in folder.glob("runs/*/*/agent.*/process.json"))
    return [each for each in found if Path(f"/proc/{each['pid']}").exists()]


def _megabytes(pid: int) -> float:
    """What a process has for itself, and its share of what it shares."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return next(int(line.split()[1]) / 1024 for line in rollup.splitlines() if line.startswith("Pss:"))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, about half a minute")
    sizes = QUICK if parser.parse_args().quick else Sizes()
    began = time.perf_counter()
    with ExitStack() as stack:
        # Where data of people lie too; Codex refuses to work with a configuration below the temporary folder.
        made = tempfile.TemporaryDirectory(prefix="handrail-bench-", dir=Path.home(), ignore_cleanup_errors=True)
        place = Place(Path(stack.enter_context(made)))
        stack.callback(place.close)
        names = prepare_agents(place, stack.enter_context(model_aside()))
        if not names:
            print("no agent is here: pip install claude-agent-sdk openai-codex")
        found = streams(place, names)
        for each in (*reading(found, sizes.megabytes), *memory(place, sizes.agents)):
            print(each.line(), flush=True)
        for each in overhead(place, names, sizes.rounds):
            print(each.line(), flush=True)
    print(f"\n{time.perf_counter() - began:.0f} s on {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
