"""A run that works in the user's own checkout: it is kept at each step, and never restored over."""

from pathlib import Path

from handrail.model.history.events import StepEnded
from support.runtime.room import of_kind
from support.runtime.steps_room import StepsRoom, git
from support.runtime.tree_states import Person, all_refs

TWO = """
name: two
steps:
  - {name: s1, prompt: Do it please}
  - {name: s2, prompt: Do it please, done_when: [{changed: b.txt}]}
"""
TURNS = {"s1": {"files": {"a.txt": "a\n"}, "repeat": True}, "s2": {"files": {"b.txt": "b\n"}, "repeat": True}}


def _person(shop: StepsRoom) -> Person:
    person = Person(shop, TURNS)
    person.writes("two", TWO)
    return person


def test_a_borrowed_tree_is_kept_at_each_step_and_never_restored_over(shop: StepsRoom) -> None:
    person = _person(shop)
    (shop.repo / "mine.txt").write_text("mine\n")
    head, branches = git(shop.repo, "rev-parse", "HEAD"), git(shop.repo, "branch")
    (shop.repo / "sub").mkdir()
    said = person.runs("two", "--in", ".")
    assert "two-1 succeeded" in said
    log = person.log
    snapshots = [str(event.details["snapshot"]) for event in of_kind(log, "two-1", StepEnded)]
    log.close()
    assert len(set(snapshots)) == 2
    assert git(shop.repo, "show", f"{snapshots[0]}:mine.txt") == "mine"
    assert all_refs(shop.repo)["refs/handrail/two-1"] == snapshots[-1]
    (shop.repo / "b.txt").write_text("edited by me\n")
    (shop.repo / "a.txt").unlink()
    said = person.calls("rewind", "two-1", "s2")
    assert f"the files in {shop.repo} stay as they are: the run only borrowed them" in said
    assert not (shop.repo / "a.txt").exists()
    assert (git(shop.repo, "rev-parse", "HEAD"), git(shop.repo, "branch")) == (head, branches)
    assert (shop.repo / "mine.txt").read_text() == "mine\n"


def test_a_run_in_a_folder_of_a_repository_works_in_that_folder(shop: StepsRoom) -> None:
    person = _person(shop)
    (shop.repo / "sub").mkdir()
    person.runs("two", "--in", "sub")
    assert sorted(path.name for path in (shop.repo / "sub").iterdir()) == ["a.txt", "b.txt"]
    assert person.tree("two-1") == shop.repo


def test_a_plain_folder_has_no_tree(shop: StepsRoom, tmp_path: Path) -> None:
    person = _person(shop)
    person.writes("two", TWO.replace(", done_when: [{changed: b.txt}]", ""))
    (tmp_path / "plain").mkdir()
    person.runs("two", "--in", str(tmp_path / "plain"))
    assert (tmp_path / "plain/b.txt").exists()
    assert "refs/handrail/two-1" not in all_refs(shop.repo)


def test_the_command_says_where_what_stood_there_is_kept(shop: StepsRoom) -> None:
    person = _person(shop)
    person.runs("two")
    said = person.calls("rewind", "two-1", "s2")
    assert "the files are restored; what was there before is kept: git show refs/handrail/two-1" in said
    (person.tree("two-1") / "mine.txt").write_text("mine\n")
    said = person.calls("rewind", "two-1", "s2")
    assert "what was there before is kept: git show refs/handrail/kept/two-1/1" in said
