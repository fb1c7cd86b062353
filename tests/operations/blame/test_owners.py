"""Whose line is this: three steps of two runs and a person, after a squash merge, a rebase and a rename.

Each line names its owner, except `}`, which several of them wrote.
"""

from collections.abc import Generator
from pathlib import Path

import pytest

from support.blame.blame_room import BlameRoom, git_user
from support.workspace.git_room import GitRoom

BASE = "import\n}\nend\n"
FIRST = "import\none first\n}\n}\nend\n"
SECOND = "import\none first\n}\n}\none second, a\none second, b\n}\nend\n"
SQUASHED = "import\none first\n}\n}\none second, a\nperson in the squash\n}\nend\n"
THIRD = "import\none first\n}\n}\none second, a\nperson in the squash\n}\ntwo third\n}\nend\n"
MEANWHILE = "person meanwhile\n}\nimport\none first\n}\n}\none second, a\nperson in the squash\n}\nend\n"

OF_SQUASH = [
    "person Start",
    "one-1 first",
    "one-1 first",
    "person Start",
    "one-1 second",
    "person Squash",
    "one-1 second",
]
AFTER_SQUASH = [*OF_SQUASH, "person Start"]
AFTER_REBASE = ["person Meanwhile"] * 2 + [*OF_SQUASH, "two-1 third", "two-1 third", "person Start"]
AFTER_RENAME = [*AFTER_REBASE, "person Rename"]


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Generator[BlameRoom]:
    """The whole story, with a tag after each part."""
    folder: Path = tmp_path_factory.mktemp("blame")
    with git_user(folder):
        made = BlameRoom(GitRoom(folder).make())
        made.commit("app.txt", BASE, "Start")
        one = made.start("one-1")
        one.step("first", app_txt=FIRST)
        one.step("second", app_txt=SECOND)
        one.save()
        made.git("merge", "-q", "--squash", "work/one-1")
        made.commit("app.txt", SQUASHED, "Squash\n\nHandrail-Run: one-1")
        made.git("tag", "squashed")
        two = made.start("two-1")
        two.step("third", app_txt=THIRD)
        two.save()
        made.commit("app.txt", MEANWHILE, "Meanwhile")
        made.git("switch", "-q", "--detach", "work/two-1")
        made.git("rebase", "-q", "main")
        made.git("branch", "-f", "main")
        made.git("switch", "-q", "main")
        made.git("tag", "rebased")
        made.git("mv", "app.txt", "lib.txt")
        made.commit("lib.txt", (made.repo / "lib.txt").read_text() + "person in the rename\n", "Rename")
        made.git("tag", "renamed")
        yield made


@pytest.mark.parametrize(
    ("file", "tag", "expected"),
    [
        ("app.txt", "squashed", AFTER_SQUASH),
        ("app.txt", "rebased", AFTER_REBASE),
        ("lib.txt", "renamed", AFTER_RENAME),
        ("lib.txt", "", AFTER_RENAME),
    ],
)
def test_every_line_has_its_owner(room: BlameRoom, file: str, tag: str, expected: list[str]) -> None:
    assert room.owners(file, revision=tag) == expected


def test_a_single_line_has_the_owner_that_it_has_among_all_lines(room: BlameRoom) -> None:
    assert room.owners("lib.txt", first=9, last=9) == ["one-1 second"]
    assert room.owners("lib.txt", first=6, last=7) == ["person Start", "one-1 second"]
