"""Of any number of processes that claim an issue one gets it; claims of runs that are over are released."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from handrail.errors import TrackerFault
from handrail.model.issues import Claim
from handrail.model.secrets.redaction import Redactor
from handrail.ports.log import Append, Log, NewEvent
from handrail.processes.secret_forms import FORMS
from handrail.store.sqlite.log import open_log
from handrail.trackers.local.book import LocalIssues
from handrail.trackers.local.claims import GRACE

PROCESSES = 20
CLAIM = """
import sys, time
from contextlib import closing
from pathlib import Path
from handrail.model.issues import Claim
from handrail.model.secrets.redaction import Redactor
from handrail.processes.secret_forms import FORMS
from handrail.store.sqlite.log import open_log
from handrail.trackers.local.book import LocalIssues
folder, issue, name = sys.argv[1:]
with closing(open_log(Path(folder))) as log:
    issues = LocalIssues(log, "/work/shop", time.time, lambda: Redactor({}, FORMS))
    print("ready", flush=True)
    sys.stdin.readline()
    found = issues.claim(issue, Claim(by=f"person:{name}"))
    print(found.is_mine, found.claim.by, flush=True)
"""


@dataclass
class ClaimRoom:
    log: Log
    now: float = 1000.0
    issue: str = field(init=False)

    def __post_init__(self) -> None:
        self.issue = self.issues.create({"title": "Wanted"}, "person:ann")

    @property
    def issues(self) -> LocalIssues:
        return LocalIssues(self.log, "/work/shop", lambda: self.now, lambda: Redactor({}, FORMS))

    def end_run(self, run: str, status: str) -> None:
        """Let a run exist with a status, as lists show it."""
        head = self.log.last(run).seq
        lease = self.log.acquire(run, "test")
        self.log.append([Append(run, head, (NewEvent("x", 1, b"{}"),), summary={"status": status})], [lease])  # type: ignore[list-item]
        self.log.release(lease)  # type: ignore[arg-type]


@pytest.fixture
def room(tmp_path: Path) -> Iterator[ClaimRoom]:
    with closing(open_log(tmp_path / "data")) as log:
        yield ClaimRoom(log)


def test_of_twenty_processes_that_claim_one_issue_one_gets_it(tmp_path: Path, room: ClaimRoom) -> None:
    words = [sys.executable, "-c", CLAIM, str(tmp_path / "data"), room.issue]
    workers = [
        subprocess.Popen([*words, f"p{number}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for number in range(PROCESSES)
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("\n")
        worker.stdin.flush()
    said = [worker.communicate()[0].split() for worker in workers]
    assert [mine for mine, _ in said].count("True") == 1
    (winner,) = {by for _, by in said}
    found = room.issues.read(room.issue)
    assert found.claim is not None
    assert (found.claim.by, found.seq) == (winner, 2)


def test_a_claim_is_recorded_with_status_and_assignee(room: ClaimRoom) -> None:
    assert room.issues.claim(room.issue, Claim(by="agent:fix-1", run="fix-1")).is_mine
    found = room.issues.read(room.issue)
    assert (found.status, found.text("assignee")) == ("in_progress", "agent:fix-1")
    assert room.issues.claim(room.issue, Claim(by="agent:fix-1", run="fix-1")).is_mine
    assert room.issues.read(room.issue).seq == 2


@pytest.mark.parametrize("status", ["closed", "blocked", "deferred"])
def test_what_is_not_open_cannot_be_claimed(room: ClaimRoom, status: str) -> None:
    room.issues.edit(room.issue, {"status": status}, "person:ann")
    with pytest.raises(TrackerFault, match=status):
        room.issues.claim(room.issue, Claim(by="person:ben"))


def test_an_issue_that_is_assigned_to_somebody_else_is_not_claimed(room: ClaimRoom) -> None:
    room.issues.edit(room.issue, {"assignee": "person:ann"}, "person:ann")
    assert room.issues.claim(room.issue, Claim(by="person:ben")).claim.by == "person:ann"
    assert room.issues.claim(room.issue, Claim(by="person:ann")).is_mine


@pytest.mark.parametrize("status", ["succeeded", "failed", "cancelled"])
def test_the_claim_of_a_run_that_is_over_is_released_with_the_reason(room: ClaimRoom, status: str) -> None:
    room.issues.claim(room.issue, Claim(by="agent:fix-1", run="fix-1"))
    room.end_run("fix-1", "running")
    assert room.issues.find_ready().ready == ()
    room.end_run("fix-1", status)
    found = room.issues.find_ready()
    assert found.released == ((room.issue, f"its run fix-1 is over ({status})"),)
    assert [line.id for line in found.ready] == [room.issue]


def test_claiming_releases_a_stale_claim_first(room: ClaimRoom) -> None:
    room.issues.claim(room.issue, Claim(by="agent:fix-1", run="fix-1"))
    room.end_run("fix-1", "failed")
    assert room.issues.claim(room.issue, Claim(by="agent:fix-2", run="fix-2")).is_mine


def test_the_claim_of_a_run_that_does_not_exist_is_released_after_a_while(room: ClaimRoom) -> None:
    room.issues.claim(room.issue, Claim(by="agent:fix-1", run="fix-1"))
    room.now += GRACE
    assert room.issues.find_ready().released == ()
    room.now += 1
    assert room.issues.find_ready().released == ((room.issue, "its run fix-1 does not exist"),)


def test_the_claim_of_a_person_is_released_only_on_request(room: ClaimRoom) -> None:
    room.issues.claim(room.issue, Claim(by="person:ann"))
    room.now += 1e6
    assert room.issues.find_ready().released == ()
    assert room.issues.release(room.issue, "", "person:ben", "ann is away")
    assert not room.issues.release(room.issue, "", "person:ben", "again")
    assert [line.id for line in room.issues.find_ready().ready] == [room.issue]
