"""How much CPU time `handrail issues ready` takes at 5,000 issues: the whole command, and on top of its start.

Run with `python benchmarks/issues.py`. Each command is a process of its own, and rounds are interleaved; the time is
what the kernel counted for the process, user and system, in milliseconds.
"""

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from handrail.model.issue_events import Record
from handrail.model.secrets.redaction import Redactor
from handrail.processes.secret_forms import FORMS
from handrail.store.sqlite.log import open_log
from handrail.trackers.local.book import LocalIssues

COUNT = 5_000
ROUNDS = 21
AIM = 50.0
"""Milliseconds on top of the start."""
HANDRAIL = str(Path(sys.executable).parent / "handrail")
START = ("--version",)
READY = ("issues", "ready")
COMMANDS = (START, READY, (*READY, "--json"), (*READY, "--explain"), ("issues", "list"))


def main() -> None:
    """Fill a log with issues, and print the CPU time of `ready`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        shop = folder / "shop"
        subprocess.run(["git", "init", "-q", str(shop)], check=True)
        with closing(open_log(folder / "home" / "data")) as log:
            _measure_inside(LocalIssues(log, str(shop), time.time, lambda: Redactor({}, FORMS)))
        _measure_commands(shop, folder / "home")


def _measure_inside(issues: LocalIssues) -> None:
    chance = random.Random(1)
    begun = time.process_time()
    issues.put_records((_record(number, chance) for number in range(COUNT)), "person:ann")
    print(f"import of {COUNT} issues: {time.process_time() - begun:.2f} s of CPU")
    taken = sorted(_measure_once(issues) for _ in range(ROUNDS))
    best, median = taken[0] * 1000, statistics.median(taken) * 1000
    print(f"ready inside a process: {best:.1f} ms at best, {median:.1f} ms median")


def _measure_commands(shop: Path, home: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "HANDRAIL_HOME": str(home)}
    rounds = [{words: _cpu_of(words, shop, environ) for words in COMMANDS} for _ in range(ROUNDS)]
    start = statistics.median(each[START] for each in rounds)
    print(f"{'command':32}{'whole':>8}{'start':>8}{'on top':>8}")
    for words in COMMANDS[1:]:
        whole = statistics.median(each[words] for each in rounds)
        more = statistics.median(each[words] - each[START] for each in rounds)
        verdict = f"  {'reached' if more <= AIM else 'MISSED'} (aim {AIM:.0f})" if words == READY else ""
        print(f"{'handrail ' + ' '.join(words):32}{whole:8.1f}{start:8.1f}{more:8.1f}{verdict}")
    argv = [HANDRAIL, *READY, "--json"]
    listed = subprocess.run(argv, cwd=shop, env=environ, check=True, capture_output=True)
    print(f"{json.loads(listed.stdout)['total']} of {COUNT} issues are ready")


def _cpu_of(words: tuple[str, ...], shop: Path, environ: dict[str, str]) -> float:
    """Return the CPU time of a command in milliseconds, user and system."""
    process = subprocess.Popen(
        [HANDRAIL, *words], cwd=shop, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"handrail {' '.join(words)} exited with code {process.returncode}")
    return (used.ru_utime + used.ru_stime) * 1000


def _record(number: int, chance: random.Random) -> Record:
    targets = [f"shop-{chance.randrange(number)}" for _ in range(chance.choice((0, 0, 1, 2)))] if number else []
    kinds = ("blocks", "blocks", "parent-child", "related")
    return {
        "id": f"shop-{number}",
        "title": f"Issue number {number} of many",
        "description": "What is wrong, and what to do about it. " * 5,
        "status": chance.choice(("open", "open", "open", "in_progress", "closed")),
        "priority": chance.randrange(5),
        "labels": ["backend", "bug"],
        "dependencies": [{"depends_on_id": each, "type": chance.choice(kinds)} for each in targets],
    }


def _measure_once(issues: LocalIssues) -> float:
    begun = time.process_time()
    issues.find_ready()
    return time.process_time() - begun


if __name__ == "__main__":
    sys.exit(main())
