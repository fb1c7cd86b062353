"""What it takes to start the command line: Handrail's commands beside a bare click program with one command.

Run with `python benchmarks/cli.py`, or `--quick`. Each is a process of its own, rounds are interleaved, so that a
machine that is busy for a while is busy for all; figures are medians of the rounds, in milliseconds from start to exit.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from handrail.model.history.events import RunStarted
from handrail.store.sqlite.log import open_log
from handrail.wiring.system import make_writer

AIM = 2.0
ROUNDS, QUICK = 31, 15
RUNS = 40
HANDRAIL = str(Path(sys.executable).parent / "handrail")
BARE = """\
import click


@click.group()
def cli():
    "Do one thing."


@cli.command()
def hello():
    "Say hello."
    click.echo("hello")


cli()
"""


@dataclass(slots=True)
class Start:
    """A command line and what it took, round by round."""

    text: str
    argv: Sequence[str]
    took: list[float] = field(default_factory=list[float])

    def once(self, folder: Path) -> None:
        """Start it and wait for its end."""
        environ = {"PATH": os.environ["PATH"], "HANDRAIL_HOME": str(folder / "home")}
        began = time.perf_counter()
        subprocess.run(self.argv, cwd=folder, env=environ, check=True, stdout=subprocess.DEVNULL)
        self.took.append((time.perf_counter() - began) * 1000)

    def line(self, bare: "Start") -> str:
        """Say how it went beside the bare program; the ratio is the median of the rounds."""
        ratio = statistics.median(ours / theirs for ours, theirs in zip(self.took, bare.took, strict=True))
        times = f"{statistics.median(bare.took):10.1f}{statistics.median(self.took):10.1f}{ratio:8.2f}"
        return f"{'reached' if ratio <= AIM else 'MISSED ':8} {self.text:48}{times}  (aim {AIM:.2f})"


def fill(home: Path) -> None:
    """Record runs to list: most have just begun and wait for nobody."""
    log = open_log(home / "data")
    for number in range(1, RUNS + 1):
        run = f"work-{number}"
        plan = log.put_blob(b'{"name":"work","steps":[]}')
        started = RunStarted(run=run, workflow="work", definition="", plan=plan, inputs={}, workspace="", at=number)
        make_writer(log).begin(run, started)
    log.close()


def measure(rounds: int) -> list[str]:
    """Measure everything, and give a line for each command."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bare.py").write_text(BARE)
        fill(folder / "home")
        bare = Start("bare click", (sys.executable, "bare.py", "--help"))
        ours = [
            Start("handrail --help", (HANDRAIL, "--help")),
            Start(f"handrail status, {RUNS} runs", (HANDRAIL, "status")),
        ]
        for _ in range(rounds):
            for each in (bare, *ours):
                each.once(folder)
        return [each.line(bare) for each in ours]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} rounds instead of {ROUNDS}")
    rounds = QUICK if parser.parse_args().quick else ROUNDS
    print(f"{'':9}{'medians in ms':48}{'bare':>10}{'ours':>10}{'ratio':>8}")
    for line in measure(rounds):
        print(line)


if __name__ == "__main__":
    main()
