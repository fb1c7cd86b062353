"""What work trees cost: Handrail's beside bare git, on the same repository, in the same minutes.

Run with `python benchmarks/workspace.py`, or `--quick`. Rounds are interleaved, so that a machine that is busy for a
while is busy for both; figures are medians. Handrail syncs what it keeps to the disk, bare git is left as it is.
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from handrail.model.history.trees import Tree
from handrail.ports.workspaces import Source
from handrail.workspace.git_workspaces import GitWorkspaces

FILES_IN_FOLDER = 50
ITEMS, AT_ONCE = 20, 4
WARM = 8
"""Snapshots after which a process knows a work tree."""
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_{what}": "bench@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    files: tuple[int, ...] = (1_000, 10_000)
    rounds: int = 9
    fan_outs: int = 3


QUICK = Sizes((1_000,), 5, 2)


@dataclass(slots=True)
class Beside:
    """The milliseconds of two ways to the same end."""

    text: str
    aim: float
    bare: list[float] = field(default_factory=list[float])
    ours: list[float] = field(default_factory=list[float])

    def round(self, bare: Callable[[], object], ours: Callable[[], object]) -> None:
        """Measure both once."""
        for work, times in ((bare, self.bare), (ours, self.ours)):
            began = time.perf_counter()
            work()
            times.append((time.perf_counter() - began) * 1000)

    @property
    def ratio(self) -> float:
        """How many times what bare git takes; the median of the rounds, each of which met the same machine."""
        return statistics.median(ours / bare for ours, bare in zip(self.ours, self.bare, strict=True))

    def line(self) -> str:
        """Say how it went."""
        times = f"{statistics.median(self.bare):10.1f}{statistics.median(self.ours):10.1f}{self.ratio:8.2f}"
        return f"{'reached' if self.ratio <= self.aim else 'MISSED ':8} {self.text:48}{times}  (aim {self.aim:.2f})"


@dataclass(slots=True)
class Repository:
    """A repository of a given size, with room for worktrees beside it."""

    folder: Path
    files: int
    _numbers: "count[int]" = field(default_factory=count)

    @property
    def root(self) -> Path:
        """The checkout."""
        return self.folder / "shop"

    def make(self) -> None:
        """Write the files and commit them."""
        for number in range(self.files):
            path = self.root / f"d{number // FILES_IN_FOLDER}" / f"file{number}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"line {number}\n" * 20)
        for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "start")):
            self.git(*words)

    def git(self, *words: str, where: Path | None = None) -> str:
        """Run bare git."""
        env = {**ENVIRONMENT, "HOME": str(self.folder)}
        done = subprocess.run(["git", *words], cwd=where or self.root, env=env, check=True, capture_output=True)
        return done.stdout.decode().strip()

    def bare_worktree(self) -> None:
        """Make a worktree as a person would."""
        name = f"bare{next(self._numbers)}"
        self.git("worktree", "add", "-q", "-b", name, str(self.folder / name), "main")

    def spaces(self) -> GitWorkspaces:
        """Give ours."""
        return GitWorkspaces(self.folder / "data")

    def prepared(self) -> Tree:
        """Make the worktree of a run."""
        run = f"run-{next(self._numbers)}"
        commit = self.git("rev-parse", "main")
        source = Source(run=run, repository=str(self.root), base="main", commit=commit, branch=f"work/{run}")
        return self.spaces().prepare(source)

    def set_up(self) -> Tree:
        """Make the worktree of a run, and keep it as it stands before the first step."""
        tree = self.prepared()
        self.spaces().snapshot(tree, tree.branch.removeprefix("work/"))
        return tree


def measure(repository: Repository, sizes: Sizes) -> list[Beside]:
    """Measure everything on one repository."""
    of = f", {repository.files:,} files"
    set_up = Beside(f"run set-up / git worktree add{of}", 1.3)
    kept = Beside(f"the same with the first snapshot{of}", 2.0)
    for _ in range(sizes.rounds):
        set_up.round(repository.bare_worktree, repository.prepared)
        kept.round(repository.bare_worktree, repository.set_up)
    snapshots = [_snapshots(repository, sizes, changed, of) for changed in (0, 1, 100)]
    snapshots.append(_snapshots_of_one_driver(repository, sizes, of))
    fan_out = Beside(f"{ITEMS} items, {AT_ONCE} at once / {ITEMS} bare ones in a row{of}", 1.0)
    for _ in range(sizes.fan_outs):
        fan_out.round(lambda: _in_a_row(repository), lambda: _at_once(repository))
    return [set_up, kept, *snapshots, fan_out]


def _snapshots(repository: Repository, sizes: Sizes, changed: int, of: str) -> Beside:
    """Measure snapshots of a tree in which files are changed before each."""
    tree = repository.set_up()
    found = Beside(f"snapshot with {changed} changed / git status{of}", 3.0)
    path = Path(tree.path)
    for turn in range(sizes.rounds):
        for number in range(changed):
            (path / f"d{number // FILES_IN_FOLDER}" / f"file{number}.txt").write_text(f"turn {turn}\n")
        found.round(
            lambda: repository.git("status", "--porcelain", where=path),
            lambda: repository.spaces().snapshot(tree, path.name),
        )
    return found


def _snapshots_of_one_driver(repository: Repository, sizes: Sizes, of: str) -> Beside:
    """Measure snapshots of an unchanged tree by a process that has taken some before."""
    tree = repository.set_up()
    spaces, path = repository.spaces(), Path(tree.path)
    newest = spaces.snapshot(tree, path.name).id
    found = Beside(f"the same by one driver, 0 changed / git status{of}", 3.0)

    def once_more() -> None:
        assert spaces.snapshot(tree, path.name, newest).id == newest

    for _ in range(WARM):
        once_more()
    for _ in range(sizes.rounds):
        # Without the option it may write the index, which is a change.
        found.round(lambda: repository.git("--no-optional-locks", "status", "--porcelain", where=path), once_more)
    return found


def _in_a_row(repository: Repository) -> None:
    for _ in range(ITEMS):
        repository.bare_worktree()


def _at_once(repository: Repository) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for made in [pool.submit(repository.set_up) for _ in range(ITEMS)]:
            made.result()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="1,000 files only, about half a minute")
    sizes = QUICK if parser.parse_args().quick else Sizes()
    began = time.perf_counter()
    print(f"{'':57}{'git ms':>10}{'ours ms':>10}{'ratio':>8}")
    for files in sizes.files:
        with tempfile.TemporaryDirectory(prefix="handrail-bench-") as folder:
            repository = Repository(Path(folder), files)
            repository.root.mkdir()
            repository.make()
            for each in measure(repository, sizes):
                print(each.line(), flush=True)
    print(f"\n{time.perf_counter() - began:.0f} s on {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
