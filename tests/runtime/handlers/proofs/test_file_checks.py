"""A file must pass a check of the project, or hold a test that fails; what does not compile proves nothing."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from handrail.model.workflow.proofs import CheckProof
from handrail.model.workflow.settings import FileCheck, Project
from handrail.model.workflow.values import Constant, JsonValue
from handrail.runtime.handlers.proofs.results import ProofResult
from support.runtime.proof_room import ProofRoom

PYTEST = FileCheck("test_one", "sh", (1,))
FAILED = '<testsuite tests="1" failures="1"><testcase name="a"><failure/></testcase></testsuite>'
BROKEN_TEST = "a test that cannot be compiled, loaded or collected proves nothing"
BROKEN = '<testsuite tests="1" errors="1"><testcase name="a"><error/></testcase></testsuite>'


@pytest.fixture
def room(tmp_path: Path) -> ProofRoom:
    return ProofRoom(tmp_path)


def one(room: ProofRoom, check: FileCheck, proof: CheckProof) -> ProofResult:
    ctx = replace(room.ctx(proof), project=Project(file_checks=(check,)))
    return asyncio.run(room.handler.establish(ctx))[0]


def fails(file: JsonValue = "t.sh") -> CheckProof:
    return CheckProof("test_one", Constant(file), "fail")


def passes(file: JsonValue = "t.sh") -> CheckProof:
    return CheckProof("test_one", Constant(file))


@pytest.mark.parametrize(
    ("script", "proof", "ok", "reason"),
    [
        ("exit 1", fails(), True, "exit 1"),
        ("exit 0", fails(), False, "it passed, but a test in the file must fail"),
        ("exit 2", fails(), False, f"it exited with 2, but only 1 means a failing test: {BROKEN_TEST}"),
        ("kill -KILL $$", fails(), False, "it was killed (exit 137), which proves nothing"),
        ("exit 0", passes(), True, "exit 0"),
        ("exit 1", passes(), False, "it exited with 1"),
    ],
)
def test_exit_codes_tell_a_failing_test_from_a_broken_one(
    room: ProofRoom, script: str, proof: CheckProof, ok: bool, reason: str
) -> None:
    (room.work / "t.sh").write_text(script)
    result = one(room, PYTEST, proof)
    assert (result.ok, result.detail.splitlines()[0]) == (ok, reason)
    assert result.kind == "check"


def test_a_proof_says_the_command_with_its_file(room: ProofRoom) -> None:
    (room.work / "t.sh").write_text("exit 1")
    assert one(room, PYTEST, fails()).what == snapshot("sh t.sh shows a failing test")


@pytest.mark.parametrize(
    ("script", "ok"),
    [
        ("echo '--- FAIL: TestAdd'; exit 101", True),
        ("printf '\\033[31m--- FAIL: TestAdd\\033[0m\\n' >&2; exit 2", True),
        ("echo 'error: cannot compile'; exit 101", False),
        ("echo 'x --- FAIL: TestAdd'; exit 1", False),
    ],
)
def test_a_pattern_must_match_a_line_of_the_output(room: ProofRoom, script: str, ok: bool) -> None:
    (room.work / "t.sh").write_text(script)
    result = one(room, FileCheck("test_one", "sh", failed_when="^--- FAIL:"), fails())
    assert result.ok is ok
    assert ok or "no line of its output matches ^--- FAIL:" in result.detail


@pytest.mark.parametrize(("text", "ok"), [(FAILED, True), (BROKEN, False), ("no report", False), ("", False)])
def test_a_report_must_show_a_failing_test(room: ProofRoom, text: str, ok: bool) -> None:
    (room.work / "t.sh").write_text(f"test -z '{text}' || echo '{text}' > r.xml; exit 1")
    result = one(room, FileCheck("test_one", "sh", report="r.xml"), fails())
    assert result.ok is ok
    assert ok or "its report r.xml shows no failing test" in result.detail


def test_a_report_of_an_earlier_run_counts_for_nothing(room: ProofRoom) -> None:
    (room.work / "r.xml").write_text(FAILED)
    (room.work / "t.sh").write_text("exit 1")
    assert not one(room, FileCheck("test_one", "sh", report="r.xml"), fails()).ok


@pytest.mark.parametrize("name", ["a b.sh", "$(touch x).sh", "-x.sh", "it's.sh"])
@pytest.mark.parametrize("command", ["sh", "sh $FILE", 'sh "$FILE"', 'sh "$(dirname $FILE)/$(basename -- $FILE)"'])
def test_the_file_is_one_argument_whatever_its_name(room: ProofRoom, name: str, command: str) -> None:
    (room.work / name).write_text("exit 1")
    result = one(room, FileCheck("test_one", command, (1,)), fails(name))
    assert result.ok, result.detail
    assert not (room.work / "x").exists()


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("missing.sh", "it does not exist"),
        ("../t.sh", "the path leaves its folder"),
        ("t.sh::test_one", "it does not exist"),
        (".", ". is not a file"),
        (["t.sh"], "it needs the path of one file"),
    ],
)
def test_what_is_no_file_of_the_worktree_is_refused_before_anything_runs(
    room: ProofRoom, file: JsonValue, reason: str
) -> None:
    (room.work / "t.sh").write_text("touch ran; exit 1")
    result = one(room, PYTEST, fails(file))
    assert (result.ok, result.detail) == (False, reason)
    assert not (room.work / "ran").exists()
