"""Lists of runs: which are shown, by repository, workflow and state, page by page; the same in text and in JSON."""

import json
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from handrail.cli.look.status import STATES
from handrail.model.history.events import CommandRefused, RunBlocked, RunEnded, RunStarted
from handrail.model.history.trees import TreeSource
from handrail.operations.driving.resume import list_resumable_runs
from handrail.operations.views import run_listing
from handrail.ports.log import Log, StoredEvent
from handrail.runtime.history import state_of
from handrail.sources.folders import user_folders
from handrail.store.memory.log import MemoryLog
from handrail.store.memory.state import State
from handrail.store.sqlite.log import open_log
from handrail.wiring.machine import this_machine
from handrail.wiring.system import make_writer
from support.cli.running import ASKING, Runs
from support.cli.team import Team
from support.runtime.ended_runs import end_run


def _start(log: Log, run: str, at: float, repository: str = "", status: str = "") -> None:
    plan = log.put_blob(b'{"name":"work","steps":[]}')
    source = TreeSource(repository=repository, base="main", commit="0" * 40, branch="b") if repository else None
    workflow = run.rpartition("-")[0]
    started = RunStarted(
        run=run, workflow=workflow, definition="", plan=plan, inputs={}, workspace="", at=at, source=source
    )
    make_writer(log).begin(run, started)
    if status:
        end_run(log, run, RunEnded(status=status, at=at + 1))  # type: ignore[arg-type]


class _Counted(MemoryLog):
    """A log that notes which histories were read."""

    def __init__(self) -> None:
        super().__init__(State(), None, time.time)
        self.asked = set[str]()

    def read(self, stream: str, after: int = 0, limit: int | None = None) -> tuple[StoredEvent, ...]:
        self.asked.add(stream)
        return super().read(stream, after, limit)


def _fill(runs: Runs, *repositories: str) -> None:
    log = open_log(user_folders(runs.environ()).data)
    for number in range(1, 31):
        of = repositories[number % len(repositories)]
        _start(log, f"{'mend' if number % 3 else 'fix'}-{number}", float(number), of, "succeeded")
    _start(log, "fix-31", 31.0, repositories[0], "failed")
    _start(log, "fix-32", 32.0, repositories[0])
    log.close()


def _named(runs: Runs, *words: str) -> list[str]:
    return [each["run"] for each in runs.json("status", *words)["runs"]]


def test_a_list_is_filtered_by_repository_workflow_and_state(team: Team) -> None:
    runs = team.runs
    _fill(runs, str(runs.shop.root), "/elsewhere/site")
    assert _named(runs, "--here") == ["fix-32", "fix-31", *(_named_by_number(range(30, 0, -2)))]
    assert _named(runs, "--workflow", "fix", "-n", "4") == ["fix-32", "fix-31", "fix-30", "fix-27"]
    assert _named(runs, "--status", "failed") == ["fix-31"]
    assert _named(runs, "--status", "paused") == ["fix-32"], "no process is running it"
    assert _named(runs, "--status", "needs-you") == []
    assert _named(runs, "--status", "paused", "--status", "failed") == ["fix-32", "fix-31"]
    assert runs.text("status", "--status", "needs-you") == "no run matches; handrail status shows all\n"


def _named_by_number(numbers: range) -> list[str]:
    return [f"{'mend' if number % 3 else 'fix'}-{number}" for number in numbers]


def test_pages_follow_each_other_without_gap_or_overlap(runs: Runs) -> None:
    _fill(runs, str(runs.shop.root), "/elsewhere/site")
    words, seen = ["-n", "7"], list[str]()
    for _ in range(10):
        listing = runs.json("status", *words)
        seen += [each["run"] for each in listing["runs"]]
        if listing["older"] is None:
            break
        words = ["-n", "7", "--before", listing["older"]]
    assert seen == ["fix-32", "fix-31", *_named_by_number(range(30, 0, -1))]


def test_what_is_left_out_is_counted_with_a_command_that_shows_it(team: Team) -> None:
    runs = team.runs
    _fill(runs, str(runs.shop.root), "/elsewhere/site")
    last = runs.text("status").splitlines()[-1]
    assert last == "and 21 more: handrail status --all"
    assert len(_named(runs, *last.partition("status ")[2].split())) == 32
    filtered = runs.text("status", "--workflow", "fix", "--here").splitlines()[-1]
    assert "more" not in filtered, "all of them are shown"
    older = runs.text("status", "--workflow", "fix", "-n", "2").splitlines()[-1]
    assert older == "older: handrail status --workflow fix -n 2 --before fix-31"
    assert "fix-30" in runs.text(*older.removeprefix("older: handrail ").split())


def test_programs_get_every_run_that_fits_unless_they_say_how_many(runs: Runs) -> None:
    _fill(runs, str(runs.shop.root), "/elsewhere/site")
    everything = ["fix-32", "fix-31", *_named_by_number(range(30, 0, -1))]
    listing = runs.json("status")
    assert [each["run"] for each in listing["runs"]] == everything
    assert (listing["cut"], listing["older"]) == (False, None)
    assert _named(runs, "--before", "fix-31") == everything[2:]
    assert len(_named(runs, "--status", "succeeded")) == 30
    page = runs.json("status", "-n", "5")
    assert [each["run"] for each in page["runs"]] == everything[:5]
    assert (page["cut"], page["older"]) == (True, everything[4])
    assert runs.json("status", "-n", "32")["cut"] is False


def test_the_inbox_has_every_run_that_needs_a_person_however_many_there_are(runs: Runs) -> None:
    log = open_log(user_folders(runs.environ()).data)
    for number in range(1, 131):
        _start(log, f"old-{number}", float(number))
        end_run(log, f"old-{number}", RunBlocked(reason="fault", message="broke", at=number + 1.0))
    log.close()
    assert len(runs.json("inbox")["inbox"]) == 130
    assert "and 30 more: handrail status --all" in runs.text("status")


def test_the_inbox_tells_what_an_agent_of_a_run_tried_that_ended_long_ago(runs: Runs) -> None:
    _fill(runs, str(runs.shop.root))
    log = open_log(user_folders(runs.environ()).data)
    _start(log, "bad-1", 0.5)
    tried = CommandRefused(command="approve", about="", address="", by="agent:bad-1", at=time.time())
    end_run(log, "bad-1", tried, RunEnded(status="succeeded", at=1.0))
    log.close()
    assert [each["run"] for each in runs.json("inbox")["notices"]] == ["bad-1"]


def test_a_linked_worktree_counts_as_its_repository(team: Team) -> None:
    runs = team.runs
    root, linked = runs.shop.root, runs.shop.root.parent / "linked"
    subprocess.run(("git", "worktree", "add", "-q", "--detach", str(linked)), cwd=root, check=True)
    log = open_log(user_folders(runs.environ()).data)
    for run, repository in (("a-1", root), ("a-2", linked), ("a-3", root.parent / "else")):
        _start(log, run, float(run[-1]), str(repository), "succeeded")
    log.close()
    assert _named(runs, "--here") == ["a-2", "a-1"]
    assert set(this_machine().repositories.list_checkouts(linked)) == {root.resolve(), linked.resolve()}


def test_a_bare_resume_folds_no_run_that_failed() -> None:
    log = _Counted()
    for number in range(1, 4):
        _start(log, f"fix-{number}", float(number), status="failed")
    _start(log, "fix-4", 4.0)
    _start(log, "fix-5", 5.0, status="succeeded")
    log.asked.clear()
    assert list_resumable_runs(log) == ["fix-4", "fix-3", "fix-2", "fix-1"]
    assert log.asked == {"fix-4"}


def test_one_run_takes_no_filters(runs: Runs) -> None:
    _fill(runs, str(runs.shop.root))
    assert "not to a single run" in runs.text("status", "fix-31", "--here", code=2)


def test_every_state_that_can_be_asked_for_is_offered() -> None:
    assert tuple(run_listing.STATES) == STATES


def test_a_document_says_where_a_run_works_and_where_it_comes_from(team: Team) -> None:
    runs = team.runs
    team.add("ask", ASKING)
    team.run("ask", code=3)
    (listed,) = runs.json("status")["runs"]
    shown = runs.json("show", "ask-1")
    places = {"repository": str(runs.shop.root), "branch": "work/ask-1", "root": "ask-1", "parent": None}
    assert {**listed, **places, "tmux_session": None} == listed
    assert {name: shown[name] for name in listed} == listed
    assert Path(listed["worktree"]).is_dir()
    assert listed["last_activity"] >= listed["started_at"]


def test_a_long_input_is_in_no_row_that_is_written_again(runs: Runs) -> None:
    runs.add("ask", ASKING.replace("steps:", "input: {topic: string}\nsteps:", 1))
    runs.text("run", "ask", "--input", f"topic={'very long ' * 10_000}", code=3)
    runs.text("approve", "ask-1")
    with sqlite3.connect(user_folders(runs.environ()).data / "handrail.db") as database:
        ((size,),) = database.execute("SELECT length(document) FROM streams WHERE name = 'ask-1'")
    assert size < 2_000
    assert len(runs.json("show", "ask-1")["input"]["topic"]) == 100_000


@pytest.mark.parametrize("words", ["@last", "fix-32"])
def test_the_newest_run_is_the_one_that_started_last(runs: Runs, words: str) -> None:
    _fill(runs, str(runs.shop.root))
    assert json.loads(runs.call("status", words, "--json").stdout)["runs"][0]["run"] == "fix-32"
    log = open_log(user_folders(runs.environ()).data)
    assert state_of(log, "fix-32").status == "running"
    log.close()
