import subprocess
from pathlib import Path
from typing import Any

import pytest

from handrail.model.history.events import RunStarted
from handrail.model.history.run_lines import Filter
from handrail.operations.runs.lifecycle import Request, start
from handrail.operations.runs.prepare import pin
from handrail.runtime.history import state_of
from handrail.runtime.run_summary import MAX_GOAL, summary_of
from handrail.sources.tiers import here
from support.pull.room import Pull, Said, chain, definition, step

Json = dict[str, Any]
NATIVE = "name: NAME\nsteps:\n  - {name: a, prompt: Say hello}\n"


def found(pull: Pull, **keys: Any) -> Json:
    said = pull.call("resume_session", **keys)
    assert not said.is_error, said.text
    return said.data


def runs(pull: Pull, **keys: Any) -> list[str]:
    return [each["runId"] for each in found(pull, **keys)["candidates"]]


def git(folder: Path, *words: str) -> str:
    name = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    done = subprocess.run(["git", *name, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def checkout(pull: Pull) -> str:
    """The workspace as a repository on the branch `work/login`; its commit."""
    git(pull.workspace, "init", "-q", "-b", "work/login")
    git(pull.workspace, "commit", "-q", "--allow-empty", "-m", "Begin")
    return git(pull.workspace, "rev-parse", "HEAD")


def finish(pull: Pull, said: Said) -> Said:
    while not said.complete:
        said = pull.advance(said)
    return said


def test_a_word_of_the_goal_finds_a_run_and_its_token_takes_it_up(pull: Pull) -> None:
    pull.add(chain(3))
    wanted = pull.start("sample-flow", goal="Mend the login page")
    pull.start("sample-flow", goal="Write the yearly report")
    pull.advance(wanted, notes="The cookie is set too late.")
    best = found(pull, query="login")["candidates"][0]
    assert (best["runId"], best["confidence"], best["pendingStepId"]) == (wanted.run, "strong", "step-2")
    assert best["snippet"] == "Mend the login page\n\nThe cookie is set too late."
    assert best["nextCall"]["params"] == {"continueToken": best["resumeToken"], "intent": "rehydrate"}
    said = pull.call(best["nextCall"]["tool"], **best["nextCall"]["params"])
    assert (said.run, said.address) == (wanted.run, "step-2")
    assert pull.advance(said).address == "step-3"


def test_a_resume_token_cannot_advance(pull: Pull) -> None:
    pull.start(chain(2))
    token = found(pull)["candidates"][0]["resumeToken"]
    assert pull.advance(token).code == "TOKEN_SCOPE_MISMATCH"


def test_a_word_of_the_newest_notes_finds_a_run(pull: Pull) -> None:
    pull.add(chain(3))
    first = pull.start("sample-flow", goal="One thing")
    pull.start("sample-flow", goal="Another thing")
    pull.advance(first, notes="The culprit is the clock.")
    assert runs(pull, query="culprit clock")[0] == first.run


def test_a_word_with_a_slip_or_its_beginning_still_finds_a_run(pull: Pull) -> None:
    pull.add(chain(2))
    first = pull.start("sample-flow", goal="Mend the authentication")
    pull.start("sample-flow", goal="Write the report")
    for query in ("authentcation", "authent", "AUTHENTICATION of users"):
        best = found(pull, query=query)["candidates"][0]
        assert (best["runId"], best["confidence"]) == (first.run, "medium"), query


def test_an_exact_id_comes_before_everything_else(pull: Pull) -> None:
    pull.add(chain(2))
    first = pull.start("sample-flow", goal="Quiet")
    pull.start("sample-flow", goal=f"Speaks of {first.run}")
    for keys in ({"runId": first.run}, {"sessionId": first.run}, {"query": first.run}):
        best = found(pull, **keys)["candidates"][0]
        assert (best["runId"], best["whyMatched"][0]) == (first.run, "run id")


def test_a_finished_run_is_found_after_those_that_wait(pull: Pull) -> None:
    pull.add(chain(1))
    done = finish(pull, pull.start("sample-flow", goal="Mend the login page"))
    waits = pull.start("sample-flow", goal="Mend the login page again")
    last = found(pull, query="login page")
    assert [each["runId"] for each in last["candidates"]] == [waits.run, done.run]
    assert [each["isComplete"] for each in last["candidates"]] == [False, True]
    assert last["candidates"][1]["pendingStepId"] is None


def test_five_of_many_are_given_the_newest_first(pull: Pull) -> None:
    pull.add(chain(1))
    begun = [pull.start("sample-flow", goal=f"Goal {number}").run for number in range(8)]
    data = found(pull)
    assert [each["runId"] for each in data["candidates"]] == begun[:2:-1]
    assert data["totalEligible"] == 8
    assert {each["confidence"] for each in data["candidates"]} == {"weak"}


def test_the_workflow_finds_its_runs(pull: Pull) -> None:
    pull.add(definition(step("step-1"), name="first-flow"))
    pull.add(definition(step("step-1"), name="second-flow"))
    first = pull.start("first-flow", goal="Something")
    pull.start("second-flow", goal="Something else")
    best = found(pull, query="first-flow")["candidates"][0]
    assert best["runId"] == first.run
    assert "workflow id" in best["whyMatched"]


def test_branch_and_commit_of_the_start_find_a_run(pull: Pull, checkout: str) -> None:
    pull.add(chain(1))
    first = pull.start("sample-flow", goal="On the branch")
    git(pull.workspace, "switch", "-q", "-c", "other")
    git(pull.workspace, "commit", "-q", "--allow-empty", "-m", "More")
    second = pull.start("sample-flow", goal="Elsewhere")
    assert runs(pull, gitBranch="work/login")[0] == first.run
    assert runs(pull, gitBranch="work")[0] == first.run
    assert runs(pull, gitHeadSha=checkout[:10])[0] == first.run
    assert found(pull, gitHeadSha=checkout)["candidates"][0]["whyMatched"] == ["commit"]
    here = found(pull, workspacePath=str(pull.workspace))["candidates"][0]
    assert (here["runId"], here["whyMatched"]) == (second.run, ["commit", "branch"])


def test_runs_of_the_same_repository_come_first_and_others_can_be_left_out(pull: Pull, checkout: str) -> None:
    del checkout
    pull.add(chain(1))
    first = pull.start("sample-flow", goal="Mend it")
    elsewhere = pull.folder / "elsewhere"
    elsewhere.mkdir()
    second = pull.call("start_workflow", workflowId="sample-flow", workspacePath=str(elsewhere), goal="Mend it")
    at = {"workspacePath": str(pull.workspace), "query": "mend"}
    assert runs(pull, **at) == [first.run, second.run]
    assert runs(pull, **at, sameWorkspaceOnly=True) == [first.run]
    assert runs(pull, workspacePath=str(elsewhere), sameWorkspaceOnly=True) == [second.run]


def test_a_run_that_the_engine_drives_is_told_with_the_way_to_get_it(pull: Pull) -> None:
    pull.add(NATIVE, "greet")
    place = here(pull.workspace, pull.environ)
    run = start(pull.system.writer, Request(pin(place, "greet"), str(pull.workspace), task="Greet"))
    said = pull.call("resume_session", runId=run)
    assert said.data["candidates"] == []
    assert said.data["drivenByEngine"] == [{"runId": run, "userMust": f"handrail take {run}"}]
    assert f"handrail take {run}" in said.text


def test_an_unknown_run_is_said_to_be_unknown_and_the_newest_are_offered(pull: Pull) -> None:
    first = pull.start(chain(1))
    said = pull.call("resume_session", runId="nobody-7")
    assert "There is no run 'nobody-7'" in said.text
    assert [each["runId"] for each in said.data["candidates"]] == [first.run]


def test_without_any_run_a_new_one_is_suggested(pull: Pull) -> None:
    said = pull.call("resume_session", query="anything")
    assert (said.data["candidates"], said.data["totalEligible"]) == ([], 0)
    assert "start_workflow" in said.text


def test_looking_for_runs_records_nothing(pull: Pull) -> None:
    pull.start(chain(1))
    before = pull.size()
    found(pull, query="better")
    assert pull.size() == before


def test_long_goals_and_notes_are_cut_between_characters(pull: Pull) -> None:
    said = pull.start(chain(2), goal="é" * 4000)
    pull.advance(said, notes="ü" * 4000)
    best = found(pull)["candidates"][0]
    assert len(best["snippet"].encode()) <= 2048
    assert len(best["title"].encode()) <= MAX_GOAL
    assert set(best["snippet"]) == {"é", "ü", "…", "\n"}


def test_the_run_list_can_be_made_again_from_the_events(pull: Pull, checkout: str) -> None:
    said = pull.start(chain(2), goal="Mend it")
    pull.advance(said, notes="Half done.")
    (row,) = pull.system.log.summaries(Filter(prefix=said.run))
    assert dict(row.document) == summary_of(state_of(pull.system.log, said.run))
    assert row.document["observed"] == {
        "root": str(pull.workspace),
        "repository": str(pull.workspace / ".git"),
        "branch": "work/login",
        "head": checkout,
    }
    assert (row.document["goal"], row.document["recap"]) == ("Mend it", "Half done.")
    (first, *_) = pull.events(said.run)
    assert isinstance(first, RunStarted)
    assert first.observed == row.document["observed"]
