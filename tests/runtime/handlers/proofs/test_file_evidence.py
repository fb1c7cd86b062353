"""Proofs that need no command: files that changed, paths that exist, conditions."""

import asyncio
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from handrail.model.workflow.proofs import ExistsProof, ExpectProof, FilesProof
from handrail.model.workflow.values import Constant, Expression, JsonValue
from support.runtime.proof_room import ProofRoom, passes


@pytest.fixture
def room(tmp_path: Path) -> ProofRoom:
    return ProofRoom(tmp_path)


def exists(path: JsonValue) -> ExistsProof:
    return ExistsProof(Constant(path))


def changed(globs: JsonValue) -> FilesProof:
    return FilesProof(Constant(globs), "changed")


def unchanged(globs: JsonValue) -> FilesProof:
    return FilesProof(Constant(globs), "unchanged")


@pytest.mark.parametrize(
    ("proof", "ok"),
    [
        (changed("src/**"), True),
        (changed(["docs/**", "src/*.py"]), True),
        (changed("docs/**"), False),
        (changed([]), False),
        (changed("src/**.py"), False),
        (changed("/etc/**"), False),
        (changed([1]), False),
        (changed(None), False),
        (unchanged("docs/**"), True),
        (unchanged([]), True),
        (unchanged("src"), False),
        (unchanged(["docs/**", "**/*.py"]), False),
        (unchanged("../**"), False),
        (unchanged("src/**.py"), False),
    ],
)
def test_files_that_changed_are_proof_by_globs(room: ProofRoom, proof: FilesProof, ok: bool) -> None:
    room.changed = ("src/a.py", "README.md")
    assert room.one(proof).ok is ok


def test_what_a_check_leaves_behind_is_not_what_the_step_changed(room: ProofRoom) -> None:
    asked: list[str] = []
    ctx = room.ctx(passes("echo command >> order"), unchanged("order"))

    def seen() -> tuple[str, ...]:
        asked.extend(each.name for each in room.work.iterdir())
        return tuple(asked)

    object.__setattr__(ctx, "changed", seen)
    assert all(each.ok for each in asyncio.run(room.handler.establish(ctx)))


def test_a_proof_names_the_first_ignored_files_below_its_globs(room: ProofRoom) -> None:
    ctx = room.ctx(unchanged("tests/**"), unchanged("docs/*.md"), changed("**"))
    asked: list[tuple[str, ...]] = []

    async def ignored(below: tuple[str, ...]) -> tuple[str, ...]:
        asked.append(below)
        return ("tests/cache/", "docs/a.log", *(f"tests/{number:02}.log" for number in range(30)))

    tests, docs, anything = asyncio.run(room.handler.establish(replace(ctx, ignored=ignored)))
    assert asked == [("docs", "tests")]
    assert tests.ok
    names = ", ".join(f"tests/{number:02}.log" for number in range(19))
    expected = f"no matching file changed\nignored by git, not checked: tests/cache/, {names} and 11 more"
    assert tests.detail == expected
    assert docs.detail == "no matching file changed"
    assert "ignored" not in anything.detail


def test_a_path_of_the_workspace_exists(room: ProofRoom) -> None:
    room.write("out/a b.txt", "")
    (room.work / "link").symlink_to("out")
    assert all(each.ok for each in room.establish(exists("out/a b.txt"), exists("out"), exists("link/a b.txt")))


def test_a_path_that_leaves_the_workspace_does_not_exist_for_a_proof(room: ProofRoom, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x", "utf-8")
    (room.work / "out").symlink_to(tmp_path)
    (room.work / "file").symlink_to(tmp_path / "secret")
    (room.work / "loop").symlink_to("loop")
    (room.work / "dangling").symlink_to("nowhere")
    paths = ("out/secret", "file", "../secret", str(tmp_path / "secret"), "loop", "dangling", "a\0b", "", "x" * 5000, 3)
    results = room.establish(*map(exists, paths))
    assert not any(each.ok for each in results)
    assert [each.detail for each in results] == snapshot(
        [
            "a link in it leads outside the workspace",
            "a link in it leads outside the workspace",
            "the path leaves its folder",
            "the path is absolute",
            "its links form a loop",
            "it does not exist",
            "the path contains a NUL character",
            "the path is empty",
            "it cannot be read: File name too long",
            "expected a path, got 3",
        ]
    )


def test_a_condition_is_proof_when_it_is_true_and_nothing_else(room: ProofRoom) -> None:
    room.names = {"tasks": ["a"], "word": "yes"}
    results = room.establish(
        ExpectProof(Expression("tasks | length >= 1")),
        ExpectProof(Expression("tasks | length >= 2")),
        ExpectProof(Expression("word")),
    )
    assert [(each.ok, each.what, each.detail) for each in results] == snapshot(
        [
            (True, "expect: tasks | length >= 1", "it is true"),
            (False, "expect: tasks | length >= 2", 'it is false; tasks is ["a"]'),
            (False, "expect: word", "expected true or false, got the text 'yes'; word is \"yes\""),
        ]
    )


def test_time_is_taken_from_files_only_where_it_is_known(room: ProofRoom) -> None:
    made = room.write("there", "")
    os.utime(made, (1, 1))
    assert room.one(exists("there"), began_at=time.time()).ok
