"""`handrail issues` and `run --issue` in a repository with beads: `bd` has the issues, and its files are left alone."""

import json
import subprocess
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support.beads.install import add_beads, install_bd, install_program
from support.cli.fresh import Fresh
from support.cli.running import HANDRAIL, Runs, until
from support.next_steps.follow import follow, in_process

ASKS = """\
name: NAME
input: {issue: issue}
steps:
  - {name: say, command: 'echo "$TITLE"', env: {TITLE: "${issue.title}"}}
  - {name: ok, type: approval, message: 'Shall I work on ${issue.id}?', revise: say}
  - {name: ship, command: 'echo shipped'}
"""


@pytest.fixture
def beads(fresh: Fresh, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Generator[Runs]:
    """A repository with beads, and the double of `bd` on the PATH."""
    monkeypatch.setenv("PATH", install_bd(tmp_path / "bin")["PATH"])
    monkeypatch.delenv("BD_JSON_ENVELOPE", raising=False)
    fresh.commit()
    add_beads(fresh.shop.root)
    runs = Runs(fresh.shop)
    yield runs
    runs.end_driver()


def bd(runs: Runs, *words: str, text: str = "") -> str:
    """Call `bd` as a person does."""
    return subprocess.run(
        ["bd", *words], cwd=runs.shop.root, input=text, capture_output=True, text=True, check=True
    ).stdout


def test_the_commands_work_on_the_issues_of_beads(beads: Runs) -> None:
    made = beads.json("issues", "create", "The cart loses items", "-t", "bug", "-p", "1", "-l", "web", "-d", "It does.")
    first, second = made["id"], beads.json("issues", "create", "Second", "--dep", made["id"])["id"]
    assert made["tracker"] == "beads"
    assert json.loads(bd(beads, "show", first, "--json"))[0]["description"] == "It does."
    listed = beads.json("issues", "list")
    assert (listed["tracker"], listed["total"]) == ("beads", 2)
    assert f"{second} is not ready: it is blocked by {first}" in beads.text("issues", "ready", "--explain")
    refused = beads.text("issues", "show", "nope-1", code=2)
    follow(in_process(beads), refused, "handrail issues list", shows="The cart loses items")
    beads.text("issues", "comment", "--", first, "-- In Firefox too.")
    assert "ann, TIME:\n  -- In Firefox too." in beads.text("issues", "show", first)
    assert beads.text("issues", "claim", first) == f"{first} is yours\n"
    refused = beads.call("issues", "claim", first, LOGNAME="ben")
    assert (refused.exit_code, refused.output) == (3, f"{first} is already claimed by ann\n")
    assert beads.text("issues", "release", first) == f"{first} is open again\n"
    assert beads.json("issues", "update", first, "-p", "0")["issues"][0]["priority"] == 0
    assert beads.json("issues", "close", first, "-r", "fixed")["issues"][0]["close_reason"] == "fixed"
    assert [each["id"] for each in beads.json("issues", "ready")["issues"]] == [second]
    assert len(beads.call("issues", "export").stdout.splitlines()) == 2
    assert beads.call("issues", "show", "--", "--help").exit_code == 2


def test_of_many_processes_that_claim_at_once_one_gets_the_issue(beads: Runs) -> None:
    issue = beads.json("issues", "create", "Wanted")["id"]

    def claim(number: int) -> int:
        environ = {**beads.environ(), "LOGNAME": f"p{number}"}
        done = subprocess.run(
            [HANDRAIL, "issues", "claim", issue], cwd=beads.shop.root, env=environ, capture_output=True, check=False
        )
        return done.returncode

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(claim, range(4))) == [0, 3, 3, 3]


def test_a_run_claims_its_issue_reports_on_it_and_takes_no_comment_for_an_answer(beads: Runs) -> None:
    beads.add("asks", ASKS)
    issue = json.loads(bd(beads, "create", "--title=It crashes", "--json"))["id"]
    result = beads.call("run", "asks", "--issue", issue)
    assert result.exit_code == 3, result.output
    run = f"work-{issue}-a1"
    assert f"{run} needs you" in result.output
    held = json.loads(bd(beads, "show", issue, "--json"))[0]
    assert (held["status"], held["assignee"]) == ("in_progress", f"agent:{run}")
    assert "Shall I work on" in beads.text("issues", "show", issue)
    for words in (("--actor=agent:other-1/work",), ("--actor=ann",), ()):
        bd(beads, "comments", "add", issue, "--file=/dev/stdin", *words, "--json", text="/approve")
    assert beads.call("status", "--refresh").exit_code == 0
    assert beads.json("status", run)["runs"][0]["status"] == "waiting"
    assert "/approve`" not in beads.text("issues", "show", issue)
    assert beads.call("approve", run).exit_code == 0
    until(lambda: beads.json("status", run)["runs"][0]["status"] == "succeeded")
    until(lambda: json.loads(bd(beads, "show", issue, "--json"))[0]["status"] == "closed")
    assert beads.json("show", run)["issue"].startswith(f"beads/{beads.shop.root.name}-")
    assert beads.json("show", run)["issue"].endswith(f"#{issue}")


def test_ready_issues_of_beads_are_run(beads: Runs) -> None:
    beads.add("asks", ASKS)
    first = json.loads(bd(beads, "create", "--title=First", "--priority=0", "--json"))["id"]
    assert beads.call("run", "asks", "--ready", "-n", "1").exit_code in (0, 3)
    assert json.loads(bd(beads, "show", first, "--json"))[0]["status"] == "in_progress"


def test_doctor_says_which_tracker_is_used(beads: Runs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert "  issues    beads, through bd 1.3.0\n" in beads.call("doctor").output
    monkeypatch.setenv("PATH", install_program(tmp_path / "gel", "echo 'beads 1.1: gel images'")["PATH"])
    why = "the local tracker; the issues of .beads are not used: the program bd on the PATH is not that of beads"
    assert f"  issues    {why}\n" in beads.call("doctor").output
    assert beads.json("issues", "create", "Local")["tracker"] == "local"
    assert not (beads.shop.root / ".beads" / "fake.json").exists()
