"""Real processes on one log: killed, racing, many at once."""

import os
from pathlib import Path

import pytest

from handrail.errors import LeaseLost
from handrail.ports.log import Append, Holder, NewEvent
from handrail.store.sqlite.log import open_log
from handrail.testing.conformance.log_worlds import leased, record
from support.store.log_worker import end, kill, said, start


def test_a_process_killed_while_appending_loses_nothing_it_was_told_is_recorded(tmp_path: Path) -> None:
    acknowledged = 0
    for _ in range(5):
        worker = start("append", tmp_path, "a", "100000")
        lines = [said(worker) for _ in range(40)]
        lines += kill(worker)
        acknowledged = int(lines[-1])
        log = open_log(tmp_path)
        assert log.last("a").seq in {acknowledged, acknowledged + 1}
        assert len(log.read("a")) == log.last("a").seq
        assert log.check().is_healthy
        log.close()
    assert acknowledged >= 200


@pytest.mark.parametrize(
    ("point", "recorded"), [("append.before", 0), ("append.after", 1)], ids=["before the commit", "after the commit"]
)
def test_a_crash_at_a_commit_leaves_all_or_nothing(tmp_path: Path, point: str, recorded: int) -> None:
    end(start("crash", tmp_path, "a", point))
    log = open_log(tmp_path)
    assert log.last("a").seq == recorded
    assert log.check().is_healthy
    assert log.append([Append("b", 0, (NewEvent("noted", 1, b"y"),))], [])[0].position == recorded + 1
    log.close()


def test_many_processes_append_to_streams_of_their_own(tmp_path: Path) -> None:
    workers = [start("append", tmp_path, f"run-{number}", "50") for number in range(8)]
    assert [len(end(worker)) for worker in workers] == [50] * 8
    log = open_log(tmp_path)
    assert [log.last(stream).seq for stream in log.streams()] == [50] * 8
    positions = [event.position for event in log.read_all()]
    assert positions == list(range(1, 401))
    assert log.check().is_healthy
    log.close()


def test_eight_processes_fill_one_inbox_and_each_key_arrives_once(tmp_path: Path) -> None:
    workers = [start("send", tmp_path, "a", f"p{number}") for number in range(8)]
    for worker in workers:
        assert end(worker) == []
    log = open_log(tmp_path)
    keys = [message.key for message in log.inbox("a")]
    assert len(keys) == len(set(keys)) == 900
    own = [message.key for message in log.inbox("a") if message.key.startswith("p3-")]
    assert own == [f"p3-{number}" for number in range(100)]
    log.close()


def test_of_two_processes_racing_for_a_run_one_drives_and_the_other_says_who_does(tmp_path: Path) -> None:
    open_log(tmp_path).close()
    for _ in range(5):
        workers = {str(worker.pid): worker for worker in (start("hold", tmp_path, "a"), start("hold", tmp_path, "a"))}
        answers = {pid: said(worker).split() for pid, worker in workers.items()}
        (driver,) = [pid for pid, answer in answers.items() if answer[0] == "held"]
        (other,) = [answer for answer in answers.values() if answer[0] == "refused"]
        assert other[1] == driver
        for worker in workers.values():
            end(worker)


def test_a_lease_is_free_as_soon_as_its_process_was_killed(tmp_path: Path) -> None:
    worker = start("hold", tmp_path, "a")
    assert said(worker) == "held 1"
    log = open_log(tmp_path)
    refused = log.acquire("a", "me")
    assert isinstance(refused, Holder)
    assert (refused.name, refused.pid) == ("worker", worker.pid)
    kill(worker)
    assert log.holder("a") is None
    assert leased(log, "a").epoch == 2
    log.close()


def test_workrail_stale_lock_a_lock_file_left_by_a_dead_process_keeps_nobody_out(tmp_path: Path) -> None:
    worker = start("hold", tmp_path, "a")
    said(worker)
    kill(worker)
    assert list((tmp_path / "locks").glob("*.lock")), "the dead process left its file"
    log = open_log(tmp_path)
    record(log, leased(log, "a"), "1")
    log.close()
    assert not list((tmp_path / "locks").glob("*.lock"))


@pytest.mark.parametrize("command", ["fork", "spawn"])
def test_a_child_of_the_holder_does_not_keep_the_lease(tmp_path: Path, command: str) -> None:
    worker = start(command, tmp_path, "a")
    lines = {said(worker).split()[0]}
    worker.wait()
    log = open_log(tmp_path)
    assert leased(log, "a").epoch == 2
    log.close()
    lines.update(line.split()[0] for line in end(worker))
    assert "child" in lines, "the child outlived the holder"


def test_a_forked_child_uses_the_log_without_disturbing_its_parent(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    lease = leased(log, "a")
    record(log, lease, "1")
    child = os.fork()
    if child == 0:
        done = log.send("a", "from child", b"x") and isinstance(log.acquire("a", "child"), Holder)
        os._exit(0 if done else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    record(log, lease, "2")
    assert [message.key for message in log.inbox("a")] == ["from child"]
    log.close()


def test_a_holder_from_before_a_crash_is_shut_out_by_its_epoch(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    stale = leased(log, "a")
    log.release(stale)
    worker = start("hold", tmp_path, "a")
    assert said(worker) == "held 2"
    with pytest.raises(LeaseLost, match="no longer holds a"):
        log.append([Append("a", 0, (NewEvent("noted", 1, b"late"),))], [stale])
    end(worker)
    log.close()


def test_workrail_second_server_knows_at_once_what_the_first_wrote(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    before = log.change_token()
    worker = start("append", tmp_path, "a", "100000")
    seq = int(said(worker))
    assert log.change_token() != before
    assert log.last("a").seq >= seq
    kill(worker)
    log.close()


def test_a_lock_file_that_somebody_wrote_into_still_locks(tmp_path: Path) -> None:
    one, two = open_log(tmp_path), open_log(tmp_path)
    leased(one, "a")
    (file,) = (tmp_path / "locks").glob("*.lock")
    for text in ("", "[1]", "{}", "\x00"):
        file.write_text(text)
        assert two.acquire("a", "me") == Holder("unknown", 0, "unknown", 0.0)
    one.close()
    leased(two, "a")
    two.close()


def test_a_check_is_not_misled_by_what_others_append_meanwhile(tmp_path: Path) -> None:
    worker = start("append", tmp_path, "a", "100000")
    said(worker)
    log = open_log(tmp_path)
    assert [log.check().findings for _ in range(30)] == [()] * 30
    kill(worker)
    log.close()
