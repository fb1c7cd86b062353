"""The ways in which the work of a run reaches a branch, and what is known of each."""

import asyncio
from collections.abc import Generator
from pathlib import Path

import pytest

from handrail.model.pull_request_facts import PullRequestMerged, PullRequestOpened
from handrail.model.pull_requests import STREAM
from handrail.operations.blame.owners import PersonOwner, RunOwner, StepOwner
from handrail.runtime.pull_request_log import record_facts
from handrail.store.memory.log import MemoryWorld
from support.blame.blame_room import NOBODY, BlameRoom, git_user
from support.workspace.git_room import GitRoom, git


@pytest.fixture
def room(tmp_path: Path) -> Generator[BlameRoom]:
    with git_user(tmp_path):
        made = BlameRoom(GitRoom(tmp_path).make())
        made.commit("app.txt", "base\n", "Start")
        yield made


def test_a_step_is_shown_with_its_agent_its_prompt_and_its_cost(room: BlameRoom) -> None:
    one = room.start("one-1")
    one.step("first", app_txt="base\none\n")
    one.save()
    room.git("merge", "-q", "work/one-1")
    _, owner = room.ask("app.txt", log=room.log)
    assert isinstance(owner, StepOwner)
    assert (owner.agent, owner.model, owner.prompt, owner.prompt_version) == ("claude", "opus", "first.md", "3")
    assert (owner.workflow, owner.version, owner.spent.usd) == ("fix", "sha256:1234", 0.25)


def test_commits_of_agents_belong_to_the_step_in_which_they_were_made(room: BlameRoom) -> None:
    one = room.start("one-1")
    one.step("first", app_txt="base\nfirst\n")
    one.step("second", "Mine", app_txt="base\nfirst\nsecond\n")
    room.git("merge", "-q", "--ff-only", "work/one-1")
    assert room.owners("app.txt") == ["person Start", "one-1 first", "one-1 second"]


def test_a_rebased_commit_of_an_agent_is_recognized_without_trailers(room: BlameRoom) -> None:
    one = room.start("one-1")
    one.step("first", app_txt="base\nfirst\n")
    one.step("second", "Mine", app_txt="base\nfirst\nsecond\n")
    room.commit("app.txt", "person\nbase\n", "Top")
    room.git("switch", "-q", "--detach", "work/one-1")
    room.git("rebase", "-q", "main")
    assert room.owners("app.txt") == ["person Top", "person Start", "one-1 first", "one-1 second"]


def test_what_an_agent_merged_from_others_stays_theirs(room: BlameRoom) -> None:
    one = room.start("one-1")
    one.step("first", "Mine", app_txt="base\nfirst\n")
    room.commit("app.txt", "person\nbase\n", "Top")
    one.begin("second")
    git(one.path, "merge", "-q", "-m", "Merge main", "main")
    (one.path / "app.txt").write_text("person\nbase\nfirst\nsecond\n")
    one.end("second")
    one.save()
    room.git("merge", "-q", "--squash", "work/one-1")
    room.git("commit", "-qm", "Squash\n\nHandrail-Run: one-1")
    assert room.owners("app.txt") == ["person Top", "person Start", "one-1 first", "one-1 second"]


def test_an_agent_that_rebases_on_others_does_not_own_their_lines(room: BlameRoom) -> None:
    one = room.start("one-1")
    one.step("first", "Mine", app_txt="base\nfirst\n")
    room.commit("app.txt", "person\nbase\n", "Top")
    one.begin("second")
    git(one.path, "rebase", "-q", "main")
    one.end("second")
    room.git("merge", "-q", "--squash", "work/one-1")
    room.git("commit", "-qm", "Squash\n\nHandrail-Run: one-1")
    assert room.owners("app.txt") == ["person Top", "person Start", "one-1 first"]


def test_applied_work_that_a_person_committed_with_an_edit_is_distinguished(room: BlameRoom) -> None:
    one = room.start("one-1")
    one.step("first", app_txt="base\nfirst a\nfirst b\n")
    room.git_room.spaces.apply_to_checkout(one.tree, "one-1")
    room.commit("app.txt", "base\nfirst a\nperson\n", "By hand")
    assert room.owners("app.txt") == ["person Start", "one-1 first", "person By hand"]


def test_a_squash_without_a_trace_is_recognized_by_its_content(room: BlameRoom) -> None:
    one = room.start("one-1")
    one.step("first", app_txt="base\nfirst\n")
    one.step("second", app_txt="base\nfirst\nsecond\n")
    one.save()
    room.git("merge", "-q", "--squash", "work/one-1")
    room.git("commit", "-qm", "Web")
    assert room.owners("app.txt") == ["person Start", "one-1 first", "one-1 second"]


def test_the_merge_commit_of_a_pull_request_needs_no_trailer(room: BlameRoom) -> None:
    one = room.start("one-1")
    one.step("first", app_txt="base\nfirst\nsame\n")
    tip = one.save()
    room.git("merge", "-q", "--squash", "work/one-1")
    merged = room.commit("app.txt", "base\nfirst\nperson\n", "Web (#1)")
    opened = PullRequestOpened(
        run="one-1",
        root="one-1",
        step="pr",
        key="one-1:pr",
        url="https://example.org/1",
        title="Web",
        head="work/one-1",
        base="main",
        commit=tip,
        draft=False,
        repository=str(room.repo),
        at=1.0,
    )
    facts = (opened, PullRequestMerged(commit=merged, at=2.0))
    stream = f"{STREAM}example.org/acme/shop#1"
    asyncio.run(record_facts(room.log, stream, lambda _: facts, NOBODY))
    assert room.owners("app.txt") == ["person Start", "one-1 first", "person Web (#1)"]


def test_an_edit_in_the_worktree_before_the_merge_is_the_persons(room: BlameRoom) -> None:
    one = room.start("one-1")
    one.step("first", app_txt="base\nfirst\n")
    (one.path / "app.txt").write_text("base\nfirst\nperson\n")
    room.git_room.spaces.commit(one.tree, "Work\n\nHandrail-Run: one-1")
    room.git("merge", "-q", "work/one-1")
    assert room.owners("app.txt") == ["person Start", "one-1 first", "person Work"]


def test_without_the_log_the_trailer_names_the_run_and_no_step(room: BlameRoom) -> None:
    one = room.start("one-1")
    one.step("first", app_txt="base\nfirst\n")
    one.save()
    room.git("merge", "-q", "work/one-1")
    person, owner = room.ask("app.txt", log=None)
    assert isinstance(person, PersonOwner)
    assert isinstance(owner, RunOwner)
    assert (owner.run, owner.why) == ("one-1", "there is no log of runs here; committed by its step save")


def test_a_run_of_the_same_name_on_another_machine_is_not_taken_for_it(room: BlameRoom) -> None:
    one = room.start("one-1")
    one.step("first", app_txt="base\nfirst\n")
    one.save()
    room.git("merge", "-q", "work/one-1")
    theirs = BlameRoom(GitRoom(room.repo.parent / "other"), MemoryWorld().open())
    theirs.git_room.root.mkdir()
    theirs.git_room.make()
    theirs.start("one-1").step("other", app_txt="base\nfirst\n")
    assert room.owners("app.txt", log=theirs.log) == ["person Start", "one-1 ?"]


def test_lines_that_are_not_committed_have_no_owner_yet(room: BlameRoom) -> None:
    room.write("app.txt", "base\nnew\n")
    assert room.owners("app.txt") == ["person Start", "not committed yet"]


def test_a_shallow_clone_says_where_it_ends(room: BlameRoom) -> None:
    room.commit("app.txt", "base\nmore\n", "More")
    clone = room.repo.parent / "clone" / "shop"
    clone.parent.mkdir()
    git(room.repo, "clone", "-q", "--depth=1", f"file://{room.repo}", str(clone))
    shallow = BlameRoom(GitRoom(clone.parent), room.log)
    assert shallow.owners("app.txt") == ["this is a shallow clone, which ends here: git fetch --unshallow"] * 2
