"""The conversation of a run on its issue: one comment, edited in place, and answers that count once."""

from itertools import pairwise
from pathlib import Path

import pytest

from handrail.errors import TrackerBusy, TrackerFault
from handrail.model.history.events import ApprovalDecided
from handrail.model.issues import IssueRef
from handrail.operations.issue_runs.assign_agent import StatusRules
from handrail.operations.issue_runs.comment_answers import MAX_REPLIES
from handrail.operations.runs import lifecycle
from handrail.operations.runs.lifecycle import Request
from handrail.runtime.history import events_of, state_of
from handrail.runtime.ports import PinnedWorkflow
from handrail.runtime.work_stream import read_work
from handrail.trackers.memory.catalog import MemoryTrackers
from handrail.trackers.memory.tracker import MemoryTracker
from support.issues.desk import PLAIN, STUCK, IssueRoom, ref_of
from support.issues.desk import make_room as room_in


def decisions(room: IssueRoom, run: str) -> list[tuple[str, str, str]]:
    found = [event for _, event in events_of(room.room.log, run) if isinstance(event, ApprovalDecided)]
    return [(each.decision, each.by, each.feedback) for each in found]


def replies(room: IssueRoom) -> list[str]:
    return [body for author, body in room.comments() if author == "handrail" and "could not be applied" in body]


@pytest.fixture
def room(tmp_path: Path) -> IssueRoom:
    found = room_in(tmp_path)
    found.service.clock = found.room.clock
    return found


def asked(room: IssueRoom) -> str:
    """Start a run that waits for approval, and report on it."""
    run = room.start(room.issue())
    room.look()
    room.room.now += 10
    return run


def test_one_comment_is_edited_in_place_until_the_run_ends(room: IssueRoom) -> None:
    run = asked(room)
    (waiting,) = room.progress(run)
    assert "needs an answer" in waiting
    assert "`/approve`" in waiting
    room.service.comment(ref_of(), "ann", "/approve")
    room.look()
    (ended,) = room.progress(run)
    assert "has finished" in ended
    assert "`/approve`" not in ended
    assert decisions(room, run) == [("approve", "github:ann", "")]


def test_an_answer_counts_once_however_often_it_is_seen(room: IssueRoom) -> None:
    run = asked(room)
    room.service.comment(ref_of(), "ann", "/revise shorter, please")
    for _ in range(4):
        room.look()
    assert decisions(room, run) == [("revise", "github:ann", "shorter, please")]
    assert state_of(room.room.log, run).status == "waiting"
    assert replies(room) == []


def test_a_comment_from_before_the_question_never_answers_it(room: IssueRoom) -> None:
    issue = room.issue()
    room.service.comment(issue.ref, "ann", "/approve")
    run = room.start(issue)
    early = room.service.comment(issue.ref, "ann", "hello")
    room.room.now += 60
    room.look()
    stored = next(each for each in room.service.issue(issue.ref).comments if each.comment.id == early.id)
    room.service.edit_comment(stored, "/approve")
    room.look()
    assert decisions(room, run) == []


@pytest.mark.parametrize("author", ["handrail", "ci[bot]"])
def test_own_comments_and_those_of_bots_never_trigger_anything(room: IssueRoom, author: str) -> None:
    run = asked(room)
    before = len(room.comments())
    room.service.comment(ref_of(), author, "/approve")
    room.look()
    assert decisions(room, run) == []
    assert len(room.comments()) == before + 1


def test_a_stranger_decides_nothing_and_makes_nobody_write(room: IssueRoom) -> None:
    run = asked(room)
    for _ in range(MAX_REPLIES + 1):
        room.service.comment(ref_of(), "eve", "/approve")
        room.look()
    assert decisions(room, run) == []
    assert replies(room) == []
    room.service.comment(ref_of(), "ann", "/approve")
    room.look()
    assert decisions(room, run) == [("approve", "github:ann", "")]


def test_a_command_that_cannot_be_followed_is_answered_once(room: IssueRoom) -> None:
    asked(room)
    room.service.comment(ref_of(), "ann", "/approve work-99-a1")
    for _ in range(3):
        room.look()
    assert len(replies(room)) == 1
    assert "no run work-99-a1 works on this issue" in replies(room)[0]


def test_a_loop_of_refused_comments_ends_and_is_shown(room: IssueRoom) -> None:
    run = asked(room)
    for _ in range(MAX_REPLIES + 5):
        room.service.comment(ref_of(), "ann", "/approve work-99-a1")
        room.look()
    assert len(replies(room)) == MAX_REPLIES
    assert read_work(room.room.log, ref_of()).paused_until > room.room.now
    (shown,) = room.progress(run)
    assert "too many replies" in shown
    room.room.now += 4000
    room.service.comment(ref_of(), "ann", "/approve")
    room.look()
    assert decisions(room, run) == [("approve", "github:ann", "")]


def test_with_several_runs_the_command_names_the_run(room: IssueRoom) -> None:
    first = asked(room)
    second = room.start(room.service.issue(ref_of()).issue)
    room.look()
    room.room.now += 10
    room.service.comment(ref_of(), "ann", "/approve")
    room.look()
    assert decisions(room, first) == decisions(room, second) == []
    assert "name one, such as `/approve work-12-a1`" in replies(room)[0]
    room.service.comment(ref_of(), "ann", "/reject work-12-a2")
    room.look()
    assert [each[0] for each in decisions(room, second)] == ["reject"]
    assert f"`/approve {first}`" in room.progress(first)[0]


def test_a_copy_of_a_run_is_answered_by_a_comment_that_names_it(room: IssueRoom) -> None:
    run = asked(room)
    copy = lifecycle.fork(room.room.writer, run, None, "person:ann")
    room.look()
    assert f"`/approve {copy}`" in room.progress(copy)[0]
    assert f"`/approve {run}`" in room.progress(run)[0]
    room.room.now += 10
    room.service.comment(ref_of(), "ann", f"/revise {copy} shorter, please")
    room.look()
    assert decisions(room, copy) == [("revise", "github:ann", "shorter, please")]
    assert decisions(room, run) == []
    assert replies(room) == []


def test_an_issue_stays_open_while_a_copy_of_its_run_works_on_it(room: IssueRoom) -> None:
    run = asked(room)
    copy = lifecycle.fork(room.room.writer, run, None, "person:ann")
    room.look()
    room.room.now += 10
    room.service.comment(ref_of(), "ann", f"/approve {run}")
    room.look()
    assert state_of(room.room.log, run).status == "succeeded"
    assert room.service.issue(ref_of()).issue.state == "open"
    room.service.comment(ref_of(), "ann", f"/approve {copy}")
    room.look()
    assert room.service.issue(ref_of()).issue.state == "closed"


def test_a_run_that_only_says_that_it_works_on_an_issue_is_not_reported_there(room: IssueRoom) -> None:
    room.issue()
    request = Request(PinnedWorkflow(PLAIN, "sha256:0"), "/w", {}, issue=str(ref_of()))
    lifecycle.start(room.room.writer, request)
    room.look()
    assert room.comments() == []


def test_a_run_is_stopped_by_a_comment(room: IssueRoom) -> None:
    run = asked(room)
    room.service.comment(ref_of(), "ann", "/stop")
    room.look()
    assert state_of(room.room.log, run).status == "cancelled"
    assert room.do(room.trackers.tracker(ref_of().place).claims(ref_of())) == ()


def test_a_run_that_is_over_lends_its_environment_to_no_other(room: IssueRoom) -> None:
    asked(room)
    room.service.comment(ref_of(), "ann", "/stop")
    room.look()
    second = room.start(room.service.issue(ref_of()).issue)

    class Forgetful(MemoryTrackers):
        def tracker(self, place: str, run: str = "") -> MemoryTracker:
            if run != second:
                raise TrackerFault(f"the token of {run} is gone")
            return super().tracker(place, run)

    room.trackers = Forgetful(room.service)
    room.room.drive()
    room.room.now += 10
    room.service.comment(ref_of(), "ann", "/approve")
    room.do(room.talk().look(refresh=True))
    room.room.drive()
    assert (room.problems, decisions(room, second)) == ([], [("approve", "github:ann", "")])


def test_a_look_on_a_persons_word_reads_the_comments_of_runs_that_ask_nothing_too(room: IssueRoom) -> None:
    run = room.start(room.issue(2), STUCK)
    room.look()
    assert state_of(room.room.log, run).status == "blocked"
    (posted,) = room.progress(run, ref_of(2))
    assert "needs a person" in posted
    assert f"`handrail resume {run}`" in posted
    room.room.now += 10
    room.service.comment(ref_of(2), "ann", "/approve")
    room.look()
    assert "no run on this issue waits for approval" in room.comments(ref_of(2))[-1][1]
    room.service.comment(ref_of(2), "ann", "/stop")
    room.look()
    assert state_of(room.room.log, run).status == "cancelled"


def test_a_run_that_finished_its_issue_closes_it_and_others_do_not(room: IssueRoom) -> None:
    room.room.chance = 3
    whole = room.issue(1)
    kept = room.issue(2)
    runs = [room.start(whole, PLAIN), room.start(kept, PLAIN, rules=StatusRules(close=False))]
    room.look()
    done = [state_of(room.room.log, run).steps["only"].status for run in runs]
    states = [room.service.issue(each.ref).issue.state for each in (whole, kept)]
    assert states == ["closed" if done[0] == "succeeded" else "open", "open"]


def test_an_issue_stays_open_while_another_run_works_on_it(room: IssueRoom) -> None:
    asked(room)
    room.start(room.service.issue(ref_of()).issue, PLAIN)
    room.look()
    assert room.service.issue(ref_of()).issue.state == "open"


def test_nothing_is_posted_again_by_the_next_process(room: IssueRoom) -> None:
    asked(room)
    before = list(room.service.calls)
    room.do(room.talk().look())
    assert room.service.calls == before


def test_a_service_that_fails_delays_no_run_and_is_tried_again(room: IssueRoom) -> None:
    run = room.start(room.issue(), PLAIN)

    def fail(point: str) -> None:
        if point.startswith("put_comment"):
            raise TrackerFault("the service is down")

    room.service.on_point = fail
    made = room.talk()
    room.room.drive()
    room.do(made.look(final=True))
    assert room.problems == ["the service is down"]
    assert state_of(room.room.log, run).status == "succeeded"

    def busy(point: str) -> None:
        if point.startswith("put_comment"):
            raise TrackerBusy("not now", until=room.room.now + 500)

    room.service.on_point = busy
    room.room.now += 100
    room.do(made.look(final=True))
    room.service.on_point = lambda _: None
    room.room.now += 100
    room.do(made.look(final=True))
    assert room.progress(run) == []
    room.room.now += 500
    room.do(made.look(final=True))
    assert len(room.progress(run)) == 1


def test_comments_are_looked_for_after_a_minute_and_then_less_often(room: IssueRoom) -> None:
    asked(room)
    made = room.talk()
    looks: list[float] = []
    for _ in range(200):
        calls = room.service.calls.count("comments_since")
        room.do(made.look())
        if room.service.calls.count("comments_since") > calls:
            looks.append(room.room.now)
        room.room.now += 30
    gaps = [later - earlier for earlier, later in pairwise(looks)]
    assert gaps[0] >= 60
    assert gaps == sorted(gaps)
    assert max(gaps) <= 930


def test_a_run_without_an_issue_is_not_talked_about(room: IssueRoom) -> None:
    room.room.start(PLAIN)
    room.look()
    assert room.service.calls == []


def test_a_refused_run_gives_its_claim_back(room: IssueRoom) -> None:
    run = asked(room)
    room.service.comment(ref_of(), "ann", "/reject")
    room.look()
    assert state_of(room.room.log, run).status in ("failed", "cancelled")
    assert room.do(room.trackers.tracker(ref_of().place).claims(ref_of())) == ()
    assert isinstance(ref_of(), IssueRef)
