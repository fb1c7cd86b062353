"""How much CPU `handrail issues ready` takes at 5,000 issues, on top of the start of the process."""

import random
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
ROUNDS = 9


def main() -> None:
    """Fill a log with issues, and print the CPU time of `ready`."""
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as folder, closing(open_log(Path(folder) / "data")) as log:
        issues = LocalIssues(log, "/home/ann/shop", time.time, Redactor({}, FORMS))
        begun = time.process_time()
        issues.put_records((_record(number, chance) for number in range(COUNT)), "person:ann")
        print(f"import of {COUNT} issues: {time.process_time() - begun:.2f} s of CPU")
        taken = sorted(_measure(issues) for _ in range(ROUNDS))
        print(f"ready at {COUNT} issues: {taken[0] * 1000:.1f} ms at best, {taken[ROUNDS // 2] * 1000:.1f} ms median")
        print(f"{len(issues.find_ready().ready)} of them are ready")


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


def _measure(issues: LocalIssues) -> float:
    begun = time.process_time()
    issues.find_ready()
    return time.process_time() - begun


if __name__ == "__main__":
    sys.exit(main())
