"""What must hold before a step is done, established with real commands and real files."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from handrail.errors import EnvironmentFault, ProcessFault
from handrail.model.workflow.proofs import CommandProof, ExistsProof, ExpectProof, FilesProof
from handrail.model.workflow.values import Command, Constant, Expression, JsonValue, ShellBinding
from handrail.ports.processes import Ended, Running
from handrail.runtime.handlers.proofs.results import MAX_DETAIL, MAX_FEEDBACK, ProofResult, feedback, record
from support.moved_time import MovedTime
from support.runtime.proof_room import ProofRoom, fails, passes
from support.runtime.room import until


@pytest.fixture
def room(tmp_path: Path) -> ProofRoom:
    return ProofRoom(tmp_path)


def exists(path: JsonValue) -> ExistsProof:
    return ExistsProof(Constant(path))


def unchanged(globs: JsonValue) -> FilesProof:
    return FilesProof(Constant(globs), "unchanged")


def test_a_command_that_passes_is_proof(room: ProofRoom) -> None:
    wanted = ProofResult("command", "echo fine passes", ok=True, detail="exit 0", tree="tree-1", exit_code=0)
    assert room.one(passes("echo fine")) == wanted


def test_a_command_that_does_not_pass_is_told_with_its_code_and_the_end_of_its_output(room: ProofRoom) -> None:
    result = room.one(passes("echo out; echo err >&2; exit 3"))
    assert not result.ok
    assert result.exit_code == 3
    assert result.detail == "it exited with 3\nout\nerr"


@pytest.mark.parametrize(("script", "ok"), [("exit 1", True), ("exit 2", False), ("exit 0", False)])
def test_a_command_that_must_fail_with_a_code_fails_with_that_code(room: ProofRoom, script: str, ok: bool) -> None:
    result = room.one(fails(script, 1))
    assert result.ok is ok
    assert result.what == f"{script} exits 1"


@pytest.mark.parametrize(
    ("script", "detail"),
    [
        ("true", "it passed, but it must fail"),
        ("kill -KILL $$", "it was killed (exit 137), which proves nothing"),
        ("exit 1", "exit 1"),
        ("exit 139", "exit 139"),
    ],
)
def test_a_command_has_failed_only_when_it_ran_to_its_own_end(room: ProofRoom, script: str, detail: str) -> None:
    result = room.one(fails(script))
    assert result.detail == detail
    assert result.ok is detail.startswith("exit")


@pytest.mark.parametrize(
    ("script", "why"),
    [("exit 126", "is not executable (exit 126)"), ("no-such-command 2>&1", "was not found (exit 127)")],
)
@pytest.mark.parametrize("proof", [passes, fails, partial(fails, code=1)])
def test_a_program_that_is_not_there_is_a_fault_whatever_was_to_be_proven(
    room: ProofRoom, proof: Callable[[str], CommandProof], script: str, why: str
) -> None:
    with pytest.raises(ProcessFault) as raised:
        room.one(proof(script))
    assert f"a program of `{script}` {why}" in raised.value.message


def test_a_program_that_must_not_be_there_is_proof_when_its_code_is_named(room: ProofRoom) -> None:
    assert room.one(fails("no-such-command", 127)).ok


def test_a_command_that_takes_too_long_is_ended_and_proves_nothing(room: ProofRoom, moved_time: MovedTime) -> None:
    proofs = (fails("echo begun; touch begun; exec sleep 600"), passes("true"))
    ctx = replace(room.ctx(*proofs), timeout=3600)

    async def late() -> tuple[ProofResult, ...]:
        under_way = asyncio.ensure_future(room.handler.establish(ctx))
        await until((room.work / "begun").exists)
        moved_time.move(3601)
        return await under_way

    slow, after = asyncio.run(late())
    assert not slow.ok
    assert slow.exit_code is None
    assert slow.detail == "it took longer than 3600 s and was stopped\nbegun"
    assert not after.ok


def test_all_proofs_are_tried_in_order(room: ProofRoom) -> None:
    results = room.establish(passes("touch made; false"), exists("made"), passes("test -e made"), exists("never"))
    assert [each.ok for each in results] == [False, True, True, False]


@pytest.mark.parametrize(
    "value", ["$(touch hacked)", "`touch hacked`", "'; touch hacked; '", '"; touch hacked; "', "a\nb"]
)
def test_a_value_never_becomes_shell_text(room: ProofRoom, value: str) -> None:
    room.names = {"value": value}
    result = room.one(passes('printf %s "$HR_1" > got', HR_1="value"))
    assert result.ok
    assert (room.work / "got").read_text("utf-8") == value
    assert not (room.work / "hacked").exists()
    assert "\n" not in result.what


def test_people_see_a_command_with_its_values_in_their_places(room: ProofRoom) -> None:
    room.names = {"test": "tests/$HR_2.py", "n": 3}
    result = room.one(fails('test "${HR_1}" = "$HR_2" # $HR_11', 1, HR_1="test", HR_2="n"))
    assert result.what == 'test "tests/$HR_2.py" = "3" # $HR_11 exits 1'
    assert result.ok


def test_a_value_that_is_asked_for_as_a_file_is_one(room: ProofRoom) -> None:
    room.names = {"text": "x" * 300_000}
    binding = ShellBinding("HR_1", Expression("text"), as_file=True)
    result = room.one(CommandProof(Command('test "$(wc -c < "$HR_1")" -eq 300000', (binding,))))
    assert result.ok, result.detail
    assert result.what == 'test "$(wc -c < "FILE")" -eq 300000 passes'


@pytest.mark.parametrize("value", ["a\0b", "x" * 200_000])
def test_a_value_that_cannot_be_passed_is_no_proof(room: ProofRoom, value: str) -> None:
    room.names = {"value": value}
    result = room.one(fails('echo "$HR_1"; exit 1', HR_1="value"))
    assert not result.ok
    assert "value" in result.detail


def test_a_name_that_is_not_there_is_no_proof_of_any_kind(room: ProofRoom) -> None:
    missing = Expression("nothing.here")
    results = room.establish(
        fails('echo "$HR_1"; exit 1', HR_1="nothing.here"),
        FilesProof(missing, "unchanged"),
        ExistsProof(missing),
        ExpectProof(missing),
    )
    assert not any(each.ok for each in results)
    assert all("nothing" in each.detail for each in results)
    assert results[0].what == 'echo "${nothing.here}"; exit 1 fails'
    assert not room.effects.exists()


def test_a_workspace_that_is_gone_is_a_fault_of_the_machine(room: ProofRoom) -> None:
    room.work.rmdir()
    with pytest.raises(EnvironmentFault):
        room.one(passes("true"))


def test_a_command_that_ended_before_a_crash_is_not_run_again(room: ProofRoom) -> None:
    proof = passes("echo run >> trace")
    first = room.one(proof)
    assert room.one(proof) == first
    assert (room.work / "trace").read_text("utf-8") == "run\n"
    assert [each.name for each in room.effects.iterdir()] == ["proof-0.0"]


def test_a_command_that_is_running_after_a_crash_is_adopted(room: ProofRoom) -> None:
    proof = passes("echo run >> trace; while ! test -e go; do sleep 0.01; done")

    async def crash() -> None:
        left = asyncio.ensure_future(room.handler.establish(room.ctx(proof)))
        await until((room.work / "trace").exists)
        left.cancel()

    asyncio.run(crash())
    assert isinstance(room.handler.starts.processes.look(str(room.effects / "proof-0.0")), Running)
    room.write("go", "")
    assert room.one(proof).ok
    assert (room.work / "trace").read_text("utf-8") == "run\n"


def test_a_command_that_was_killed_from_outside_with_its_keeper_is_started_again(room: ProofRoom) -> None:
    proof = passes("echo run >> trace")
    assert room.one(proof).ok
    for name in ("status", "status.json"):
        (room.effects / "proof-0.0" / name).unlink(missing_ok=True)
    assert not isinstance(room.handler.starts.processes.look(str(room.effects / "proof-0.0")), Ended)
    assert room.one(proof).ok
    assert (room.work / "trace").read_text("utf-8") == "run\nrun\n"
    assert sorted(each.name for each in room.effects.iterdir()) == ["proof-0.0", "proof-0.1"]


def test_a_proof_under_way_can_be_ended(room: ProofRoom) -> None:
    ctx = room.ctx(passes("touch begun; exec sleep 600"))

    async def stop() -> tuple[ProofResult, ...]:
        under_way = asyncio.ensure_future(room.handler.establish(ctx))
        await until((room.work / "begun").exists)
        await room.handler.stop(ctx.run, ctx.seq)
        return await under_way

    (result,) = asyncio.run(stop())
    assert not result.ok


def test_what_is_told_is_bounded_whatever_a_command_writes(room: ProofRoom) -> None:
    script = "i=0; while test $i -lt 4000; do echo line $i; echo error $i >&2; i=$((i+1)); done; exit 1"
    results = room.establish(*(passes(f": {number}; {script}") for number in range(4)))
    assert all(len(each.detail.encode()) <= MAX_DETAIL for each in results)
    assert all("line 3999\n" in each.detail and each.detail.endswith("error 3999") for each in results)
    told = feedback(results)
    assert len(told.encode()) <= MAX_FEEDBACK
    assert told.count("error 3999") == 4


def test_the_feedback_of_very_many_proofs_says_how_many_are_not_shown() -> None:
    told = feedback([ProofResult("expect", "é" * 300, ok=False, detail="no", tree="t") for _ in range(200)])
    assert len(told.encode()) <= MAX_FEEDBACK
    assert "\n\nand 1" in told


def test_an_agent_is_told_each_proof_that_does_not_hold(room: ProofRoom) -> None:
    room.changed = ("src/a.py",)
    results = room.establish(
        fails("echo '1 passed'", 1), passes("true"), unchanged("src/**"), passes("echo boom; echo why >&2; exit 2")
    )
    assert feedback(results) == snapshot("""\
The step is not done: 3 of its 4 checks do not hold.

1. wanted: echo '1 passed' exits 1
   found: it exited with 0, but only 1 proves it
   1 passed

2. wanted: unchanged: src/**
   found: must not change, but did: src/a.py

3. wanted: echo boom; echo why >&2; exit 2 passes
   found: it exited with 2
   boom
   why

All of them must hold for the files as they are now. Continue from there.\
""")
    assert feedback(results[1:2]) == ""


def test_a_result_is_kept_as_data_with_the_tree_it_was_established_on(room: ProofRoom) -> None:
    assert record(room.one(passes("false"))) == snapshot(
        {
            "kind": "command",
            "what": "false passes",
            "ok": False,
            "detail": "it exited with 1",
            "tree": "tree-1",
            "exit_code": 1,
        }
    )


def test_a_hostile_command_text_stays_one_line_for_people(room: ProofRoom) -> None:
    result = room.one(passes("printf '\\033[31m' # \x1b[31m\n\n" + "true # " + "long " * 100))
    assert result.what.isprintable()
    assert len(result.what) <= 310
