"""Starting runs on issues: each gets its number once, its claim, and the record of its issue."""

import threading
from pathlib import Path
from typing import Any, cast

import pytest

from handrail.engine.issues.run_names import candidate_names
from handrail.errors import UsageError
from handrail.model.issues import BEADS, LOCAL, Attachment, Claim
from handrail.model.secrets.redaction import Redactor
from handrail.operations.driving.drive import RunClaim
from handrail.operations.issue_runs.assign_agent import assign_agent
from handrail.operations.issue_runs.issue_record import build_record
from handrail.operations.issue_runs.start_on_issue import IssueTaken, choose_workflow
from handrail.processes.secret_forms import FORMS
from handrail.runtime.history import state_of
from handrail.runtime.run_writer import RunWriter
from handrail.runtime.work_stream import read_work
from handrail.store.sqlite.log import open_log
from support.issues.desk import PLAIN, ref_of
from support.issues.desk import make_room as room_in


def test_the_agents_on_one_issue_are_counted_and_only_the_first_claims_it(tmp_path: Path) -> None:
    room = room_in(tmp_path)
    issue = room.issue()
    assert [room.start(issue) for _ in range(5)] == [f"work-12-a{n}" for n in range(1, 6)]
    assert [each.run for each in room.do(room.trackers.tracker(issue.ref.place).claims(issue.ref))] == ["work-12-a1"]


def test_the_same_number_in_another_repository_gets_the_name_of_the_repository(tmp_path: Path) -> None:
    room = room_in(tmp_path)
    other = room.service.add_issue(ref_of(12, "github.com/acme/till"), "Another")
    third = room.service.add_issue(ref_of(12, "github.com/other/till"), "A third")
    assert [room.start(each) for each in (room.issue(), other, third)] == [
        "work-12-a1",
        "work-till-12-a1",
        "work-other-till-12-a1",
    ]


@pytest.mark.parametrize(("place", "starts"), [(LOCAL, True), (BEADS, False)])
def test_a_claim_without_a_nonce_is_ours_before_its_run_exists_only_if_nobody_else_writes_claims(
    tmp_path: Path, place: str, *, starts: bool
) -> None:
    room = room_in(tmp_path)
    issue = room.service.add_issue(ref_of("shop-a3f", place), "It crashes")
    starting = RunClaim(room.room.log, "another process")
    first = assign_agent(room.room.writer, issue, starting)
    room.do(room.trackers.tracker(place).claim(issue.ref, Claim(by=f"agent:{first}", run=first)))
    if starts:
        assert room.start(issue) == "work-shop-a3f-a2"
    else:
        with pytest.raises(IssueTaken, match=f"is claimed by {first}"):
            room.start(issue)
    starting.free()


def test_an_issue_that_somebody_else_claimed_is_refused(tmp_path: Path) -> None:
    room = room_in(tmp_path)
    issue = room.issue()
    room.do(room.trackers.tracker(issue.ref.place).claim(issue.ref, Claim(by="agent:work-12-a1-elsewhere")))
    with pytest.raises(IssueTaken, match=r"is claimed by agent:work-12-a1-elsewhere"):
        room.start(issue)
    assert not room.room.log.last("work-12-a1").seq


def test_a_number_whose_process_died_before_the_start_is_given_again(tmp_path: Path) -> None:
    room = room_in(tmp_path)
    issue = room.issue()
    claim = RunClaim(room.room.log, "dies")
    assert assign_agent(room.room.writer, issue, claim) == "work-12-a1"
    other = RunClaim(room.room.log, "lives")
    assert assign_agent(room.room.writer, issue, other) == "work-12-a2"
    claim.free()
    other.free()
    assert [room.start(issue) for _ in range(3)] == ["work-12-a1", "work-12-a2", "work-12-a3"]


def test_many_processes_at_once_each_get_a_number_of_their_own(tmp_path: Path) -> None:
    issue = room_in(tmp_path).issue()
    found: list[str] = []
    open_log(tmp_path / "data").close()

    def assign() -> None:
        log = open_log(tmp_path / "data")
        claim = RunClaim(log, "test")
        found.append(assign_agent(RunWriter(log, Redactor({}, FORMS)), issue, claim))
        ready.wait()
        log.close()

    ready = threading.Barrier(8)
    workers = [threading.Thread(target=assign) for _ in range(8)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert sorted(found) == [f"work-12-a{n}" for n in range(1, 9)]


def test_the_record_holds_the_issue_its_comments_and_where_its_attachments_are(tmp_path: Path) -> None:
    room = room_in(tmp_path)
    room.service.files["https://files/log"] = b"boom"
    attachments = (Attachment(name="log.txt", url="https://files/log"), Attachment(name="x", url="https://evil/x"))
    issue = room.issue(body="Steps", labels=("bug",), assignees=("bob",), attachments=attachments)
    room.service.comment(issue.ref, "bob", "Me too")
    run = room.start(issue, PLAIN)
    record = cast("dict[str, Any]", state_of(room.room.log, run).inputs["issue"])
    assert record["title"] == "It crashes"
    assert record["repository"] == "acme/shop"
    assert record["assignees"] == ["bob"]
    assert record["comments"] == [{"author": "bob", "at": "1970-01-01T00:16:40Z", "body": "Me too"}]
    stored, refused = record["attachments"]
    assert stored["path"].startswith(str(tmp_path / run))
    assert Path(stored["path"]).read_bytes() == b"boom"
    assert refused["problem"] == "there is no such file"
    assert state_of(room.room.log, run).issue == str(issue.ref)


def test_secrets_in_an_issue_are_masked_and_a_huge_one_is_cut(tmp_path: Path) -> None:
    room = room_in(tmp_path)
    issue = room.issue(body="token ghp_" + "a1B2" * 9 + "\n" + "x" * 1_000_000 + "\x00\x1b[2J")
    record = build_record(issue, room.room.writer.redactor)
    assert "ghp_a1B2" not in str(record["body"])
    assert len(str(record["body"])) < 210_000
    assert "\x1b" not in str(record["body"])


def test_without_a_workflow_the_configured_one_runs_and_else_the_choices_are_named() -> None:
    assert choose_workflow("mine", ("theirs",), ()) == "mine"
    assert choose_workflow("", ("", "theirs"), ()) == "theirs"
    with pytest.raises(UsageError, match="there are a, b") as refused:
        choose_workflow("", ("",), ("a", "b"))
    assert '[issues] workflow = "a"' in (refused.value.next_step or "")


def test_the_work_on_an_issue_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    room = room_in(tmp_path)
    issue = room.issue()
    room.service.comment(issue.ref, "bob", "/approve")
    run = room.start(issue)
    work = read_work(room.room.log, issue.ref)
    assert work.runs == (run,)
    assert work.seen == {"2"}, "what was written before the first run answers none of its questions"
    assert run == next(candidate_names(issue.ref, 1))
