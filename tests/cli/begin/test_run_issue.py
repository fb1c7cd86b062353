"""`handrail run --issue` and `--ready` as a person calls them: on the double of GitHub, and on the local tracker."""

import os
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest

from handrail.operations.driving.background_driver import find_background_driver
from handrail.ports.log import Append, Lease, TimerSet
from handrail.runtime.work_stream import POLL
from handrail.sources.folders import user_folders
from handrail.store.sqlite.log import open_log
from handrail.wiring.conversations import POLL_FILE
from support.cli.fresh import Fresh
from support.cli.running import Runs, until
from support.github.double import GitHubDouble
from support.github.faults import How
from support.github.fixtures import github, github_server

pytestmark = pytest.mark.system  # takes long: many processes of its own

__all__ = ["github", "github_server"]
ASKS = """\
name: NAME
input: {issue: issue}
steps:
  - {name: say, command: 'echo "$TITLE"', env: {TITLE: "${issue.title}"}}
  - {name: ok, type: approval, message: 'Shall I work on ${issue.id}?', revise: say}
  - {name: ship, command: 'echo shipped'}
"""
WORKS = """\
name: NAME
input: {issue: issue}
steps:
  - name: work
    command: |
      echo "in ${PWD##*/} $PWD" >> "$TRACE"
      while [ ! -e "$TRACE.go" ]; do sleep 0.02; done
      echo "out ${PWD##*/}" >> "$TRACE"
    env: {TRACE: 'WHERE'}
"""


@pytest.fixture
def repo(fresh: Fresh, github: GitHubDouble, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Generator[Fresh]:
    """A clone of a repository on the double, with trusted workflows."""
    for name, value in github.environment().items():
        monkeypatch.setenv(name, value)
    fresh.commit()
    fresh.git("remote", "add", "origin", github.clone_url())
    fresh.shop.workflow("asks", ASKS)
    fresh.shop.workflow("works", WORKS.replace("WHERE", str(tmp_path / "trace")))
    for name in ("asks", "works"):
        assert fresh.shop.call("trust", name, "--yes").exit_code == 0
    yield fresh
    (tmp_path / "trace.go").touch()
    Runs(fresh.shop).end_driver()


def status(repo: Fresh, run: str) -> str:
    return repo.shop.json("status", run)["runs"][0]["status"]


def test_a_run_is_named_after_its_issue_and_answered_by_a_comment(repo: Fresh, github: GitHubDouble) -> None:
    ann = github.person("ann", "write")
    number = ann.open_issue("It crashes", "Steps: none")
    result = repo.shop.call("run", "asks", "--issue", str(number))
    assert result.exit_code == 3, result.output
    assert "work-1-a1 needs you" in result.output
    ann.comment(number, "Fine.\n\n/approve")
    seen = repo.shop.call("status", "--refresh")
    assert seen.exit_code == 0, seen.output
    until(lambda: status(repo, "work-1-a1") == "succeeded")
    until(lambda: github.read(f"/issues/{number}")["state"] == "closed")
    bodies = [each["body"] for each in github.comments(number)]
    (progress,) = [body for body in bodies if "handrail:progress" in body]
    assert "has finished" in progress
    assert repo.shop.json("show", "work-1-a1")["issue"] == f"{github.host}/{github.repository.full_name}#1"
    assert "issue: " in repo.shop.call("status", "work-1-a1").output
    assert 'by="github:ann"' in repo.shop.call("logs", "work-1-a1").output
    assert repo.git("branch", "--list", "work/*").strip(" +*") == "work/work-1-a1"


def test_a_stranger_and_a_bot_decide_nothing(repo: Fresh, github: GitHubDouble) -> None:
    number = github.person("ann", "write").open_issue("It crashes", "/approve")
    assert repo.shop.call("run", "asks", "--issue", str(number)).exit_code == 3
    github.person("eve", "read").comment(number, "/approve")
    github.person("ci[bot]", "write").comment(number, "/approve")
    github.me.comment(number, "/approve")
    for _ in range(3):
        assert repo.shop.call("status", "--refresh").exit_code == 0
    assert status(repo, "work-1-a1") == "waiting"
    assert not [each for each in github.comments(number) if "could not be applied" in each["body"]]


@pytest.mark.parametrize("form", ["{full}#1", "{url}/{full}/issues/1", "#1", "{host}/{full}#1"])
def test_an_issue_may_be_named_in_several_forms(repo: Fresh, github: GitHubDouble, form: str) -> None:
    github.person("ann", "write").open_issue("It crashes", "")
    full = github.repository.full_name
    words = form.format(full=full, url=github.url, host=github.host)
    result = repo.shop.call("run", "asks", "--issue", words)
    assert "run work-1-a1" in result.output, result.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--issue", "99"), "99"),
        (("--issue", "https://example.org/acme/shop/issues/1"), "is not on a known code host"),
        (("--issue", "two words"), "'two words' does not name an issue"),
        (("--issue", "nope-a3f"), "nope-a3f"),
        (("a task", "--issue", "1"), "the issue is the task"),
        (("--issue", "1", "--ready"), "--ready takes the issues that are ready"),
        (("--label", "bug"), "-n and --label choose among ready issues"),
        (("--ready", "--in", "."), "with --in, all runs on ready issues would work in the same folder"),
    ],
)
def test_what_does_not_name_one_issue_is_refused_clearly(repo: Fresh, words: tuple[str, ...], message: str) -> None:
    result = repo.shop.call("run", "asks", *words)
    assert result.exit_code != 0
    assert message in result.output
    assert "Traceback" not in result.output


def test_without_a_workflow_the_configured_one_runs(repo: Fresh, github: GitHubDouble) -> None:
    github.person("ann", "write").open_issue("It crashes", "")
    refused = repo.shop.call("run", "--issue", "1")
    assert refused.exit_code != 0
    assert "no workflow was named, and none is configured for issues" in refused.output
    repo.shop.home.mkdir(exist_ok=True)
    (repo.shop.home / "config.toml").write_text('[issues]\nworkflow = "asks"\n', "utf-8")
    assert "run work-1-a1" in repo.shop.call("run", "--issue", "1").output


def test_a_local_issue_is_worked_on_and_closed(repo: Fresh) -> None:
    made = repo.shop.json("issues", "create", "It crashes", "--description", "Here")
    issue = made["id"]
    result = repo.shop.call("run", "asks", "--issue", issue)
    assert result.exit_code == 3, result.output
    run = f"work-{issue}-a1"
    assert repo.shop.json("issues", "show", issue)["status"] == "in_progress"
    assert repo.shop.call("issues", "comment", issue, "Not bad").output == f"{issue}: comment 2\n"
    answered = repo.shop.call("issues", "comment", issue, "Good.\n\n/approve", LOGNAME="ben")
    assert f"{run} has the answer, and continues in the background" in answered.output
    until(lambda: status(repo, run) == "succeeded")
    until(lambda: repo.shop.json("issues", "show", issue)["status"] == "closed")
    assert 'by="person:ben"' in repo.shop.call("logs", run).output


def lines(trace: Path, word: str) -> list[str]:
    return [each.split()[1] for each in trace.read_text("utf-8").splitlines() if each.startswith(word)]


def test_ready_issues_take_turns_three_at_a_time_and_in_order(
    repo: Fresh, github: GitHubDouble, tmp_path: Path
) -> None:
    ann, trace = github.person("ann", "write"), tmp_path / "trace"
    for number in range(10):
        ann.open_issue(f"Issue {number}", "", ["later"] if number == 9 else ["now"])
    result = repo.shop.call("run", "works", "--ready", "-n", "3", "--label", "now")
    assert result.exit_code == 0, result.output
    listed = [line.split(" ")[0] for line in result.output.splitlines() if line.startswith("work-") and " · " in line]
    assert len(listed) == 9
    until(lambda: trace.exists() and len(lines(trace, "in")) == 3)
    waiting = [each["run"] for each in repo.shop.json("status")["runs"] if each["status"] == "queued"]
    assert len(lines(trace, "in")) == 3
    assert sorted([*waiting, *lines(trace, "in")]) == sorted(listed)
    (tmp_path / "trace.go").touch()
    until(lambda: len(lines(trace, "out")) == 9, 120)
    with closing(open_log(repo.shop.home / "data")) as log:
        admitted = [event.stream for event in log.read_all() if event.kind == "run_admitted"]
    assert list(dict.fromkeys(admitted)) == listed, "the rest waits in order"
    folders = [each.split()[2] for each in trace.read_text("utf-8").splitlines() if each.startswith("in")]
    assert len(set(folders)) == 9
    branches = repo.git("branch", "--list", "work/*", "--format=%(refname:short)").split()
    assert sorted(branches) == sorted(f"work/{run}" for run in listed)


def test_five_agents_on_one_issue_share_nothing(repo: Fresh, github: GitHubDouble) -> None:
    number = github.person("ann", "write").open_issue("It crashes", "")
    runs = [f"work-{number}-a{agent}" for agent in range(1, 6)]
    for run in runs:
        assert f"{run} needs you" in repo.shop.call("run", "asks", "--issue", str(number)).output
    documents = [repo.shop.json("show", run) for run in runs]
    assert len({each["worktree"] for each in documents}) == len({each["branch"] for each in documents}) == 5
    bodies = [each["body"] for each in github.comments(number)]
    assert len([body for body in bodies if "handrail:progress" in body]) == 5
    assert len([body for body in bodies if "state=live" in body]) == 1


@pytest.mark.parametrize("how", ["502 after effect", "cut after effect", "502 before", "cut before", "secondary limit"])
def test_a_fault_of_the_service_neither_loses_nor_doubles_the_progress_comment(
    repo: Fresh, github: GitHubDouble, how: How
) -> None:
    number = github.person("ann", "write").open_issue("It crashes", "")
    # The first comment is the claim.
    github.fail("POST */issues/*/comments", how, nth=2)
    result = repo.shop.call("run", "asks", "--issue", str(number))
    assert result.exit_code == 3, result.output
    github.advance(120)
    assert repo.shop.call("status", "--refresh").exit_code == 0

    def written() -> int:
        return len([each for each in github.comments(number) if "handrail:progress" in each["body"]])

    until(lambda: written() == 1 or repo.shop.call("status", "--refresh").exit_code != 0)
    assert repo.shop.call("status", "--refresh").exit_code == 0
    assert written() == 1


def test_attachments_are_downloaded_outside_the_worktree(repo: Fresh, github: GitHubDouble) -> None:
    address = github.attach("crash.log", b"boom")
    number = github.person("ann", "write").open_issue(
        "It crashes", f"See [crash.log]({address}) and https://evil.org/x"
    )
    assert repo.shop.call("run", "asks", "--issue", str(number)).exit_code == 3
    document = repo.shop.json("show", "work-1-a1")
    (attached,) = document["input"]["issue"]["attachments"]
    assert attached["name"] == "crash.log"
    assert Path(attached["path"]).read_bytes() == b"boom"
    assert not Path(attached["path"]).is_relative_to(document["worktree"])
    assert Path(attached["path"]).is_relative_to(repo.shop.home / "data" / "runs" / "work-1-a1")


def test_any_command_starts_a_driver_when_it_is_time_to_look(repo: Fresh, github: GitHubDouble) -> None:
    number = github.person("ann", "write").open_issue("It crashes", "")
    assert repo.shop.call("run", "asks", "--issue", str(number)).exit_code == 3
    Runs(repo.shop).end_driver()
    marker = repo.shop.home / "data" / POLL_FILE
    assert repo.shop.call("list").exit_code == 0
    assert find_background_driver(user_folders(Runs(repo.shop).environ())) is None, "it is not time yet"
    github.person("ann").comment(number, "/approve")
    with closing(open_log(repo.shop.home / "data")) as log:
        stream = f"work:{github.host}/{github.repository.full_name}#{number}"
        lease = log.acquire(stream, "test")
        assert isinstance(lease, Lease)
        log.append([Append(stream, log.last(stream).seq, timers=(TimerSet(POLL, 1.0),))], [lease])
        log.release(lease)
    os.utime(marker, (1.0, 1.0))
    assert repo.shop.call("list").exit_code == 0
    until(lambda: status(repo, "work-1-a1") == "succeeded")
