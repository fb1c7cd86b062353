"""`handrail blame`: what it prints, and what it says about files that have no lines to ask about."""

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from support.cli.team import Team
from support.next_steps.follow import follow, in_process

FLOW = """\
name: NAME
steps:
  - {name: first, prompt: Write the first line now.}
  - {name: second, prompt: Write the second line now.}
  - {name: save, type: commit, message: Save it}
"""
PLAYS = {
    "first": [
        {"files": {"app.txt": "one\ntwo\nfirst\n"}, "usage": {"input_tokens": 9, "output_tokens": 4, "cost": 0.01}}
    ],
    "second": [{"files": {"app.txt": "one\ntwo\nfirst\nsecond\n"}}],
}


@pytest.mark.system  # takes long: a run of its own
def test_lines_are_shown_with_their_owners_and_each_owner_once(team: Team) -> None:
    team.add("two", FLOW, **PLAYS)
    team.run("two")
    team.git("merge", "-q", "--squash", "work/two-1")
    team.write("app.txt", "one\ntwo\nfirst\nsecond\nperson\n")
    team.git("commit", "-qam", "Squash it\n\nHandrail-Run: two-1")
    said = team.text("blame", "app.txt")
    assert said == snapshot("""\
1  a person: Ada  2026-11-18  one
2  a person: Ada  2026-11-18  two
3  two-1 first    2026-11-18  first
4  two-1 second   2026-11-18  second
5  a person: Ada  2026-11-18  person

a person: Ada: Start (commit HASH, 2026-11-18)
two-1 first: scripted, workflow two (sha256:d90b1), $0.01, 2026-11-18. More: handrail show two-1 first
two-1 second: scripted, workflow two (sha256:d90b1), 2026-11-18. More: handrail show two-1 second
a person: Ada: Squash it (commit HASH, 2026-11-18), in the commit that brought in two-1
""")
    follow(in_process(team.runs), said, "{}: {}. More: handrail show {} {}", shows="first")
    (found,) = team.json("blame", "app.txt:3")["lines"]
    assert (found["owner"], found["run"], found["step"], found["agent"]) == ("step", "two-1", "first", "scripted")
    assert found["cost"]["usd"] == 0.01


def test_a_person_is_shown_with_the_commit(team: Team) -> None:
    assert team.text("blame", "app.txt:2") == snapshot("""\
2  a person: Ada  2026-11-18  two

a person: Ada: Start (commit HASH, 2026-11-18)
""")
    (found,) = team.json("blame", "app.txt:2-2", "--rev", "main")["lines"]
    assert (found["owner"], found["author"], found["text"]) == ("person", "Ada", "two")


def test_a_line_that_does_not_exist_leads_to_the_whole_file(team: Team) -> None:
    said = team.text("blame", "app.txt:9", code=2)
    assert "app.txt has 2 lines, so there is no line 9" in said
    follow(in_process(team.runs), said, "handrail blame {}", shows="a person: Ada")
    follow(in_process(team.runs), team.text("blame", "app.txt:2-1", code=2), "handrail blame {}", shows="two")


def test_a_deleted_file_leads_to_the_commit_before(team: Team) -> None:
    (team.root / "app.txt").unlink()
    said = team.text("blame", "app.txt", code=2)
    assert "app.txt was deleted in the checkout, which is not committed yet" in said
    follow(in_process(team.runs), said, "handrail blame {} --rev HEAD", shows="two")
    team.git("commit", "-qam", "Delete")
    said = team.runs.call("blame", "app.txt").output
    assert "app.txt is not in HEAD: it was deleted in" in said
    follow(in_process(team.runs), said, "handrail blame {} --rev {}", shows="two")


def test_what_has_no_lines_is_refused_with_the_reason(team: Team, tmp_path: Path) -> None:
    (team.root / "image.bin").write_bytes(b"\0\1")
    (team.root / "folder").mkdir()
    team.write("folder/new.txt", "new\n")
    assert "is not committed yet" in team.text("blame", "folder/new.txt", code=2)
    team.write("empty.txt", "")
    team.git("add", "-A")
    team.git("commit", "-qm", "More")
    assert "image.bin is a binary file: it has no lines" in team.text("blame", "image.bin", code=2)
    assert "folder is a folder: only files have lines" in team.text("blame", "folder", code=2)
    assert "there is no nothing.txt in HEAD" in team.text("blame", "nothing.txt", code=2)
    assert team.text("blame", "empty.txt") == "empty.txt is empty\n"
    assert "is not inside a git repository" in team.text("blame", str(tmp_path / "elsewhere.txt"), code=1)
    assert "there is no commit `nope`" in team.text("blame", "app.txt", "--rev", "nope", code=1)
