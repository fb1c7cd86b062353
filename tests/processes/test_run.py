"""How real commands run and end by themselves."""

import asyncio
import os
import signal
import stat
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from handrail.errors import EnvironmentFault
from handrail.ports.processes import Ended, Gone, ProcessSpec, TimedOut
from handrail.processes.keeper_pool import KEEPER_POOL
from support.workspace.process_room import LONG, Room


@pytest.fixture(params=["started", "forked"], autouse=True)
def keepers(request: pytest.FixtureRequest, room: Room) -> None:
    """Where keepers come from, which makes no difference."""
    if request.param == "forked":
        KEEPER_POOL.open()


@pytest.mark.parametrize("code", [0, 1, 2, 126, 127, 130, 255])
def test_an_exit_code_is_reported_as_it_is(room: Room, code: int) -> None:
    assert room.run(room.sh(f"exit {code}")) == Ended(code)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGHUP, signal.SIGUSR1])
def test_a_signal_is_told_from_the_exit_code_that_shells_make_of_it(room: Room, number: signal.Signals) -> None:
    killed = room.run(room.sh(f"kill -{int(number)} $$"))
    assert (killed.exit_code, killed.signal, killed.code) == (None, number, 128 + number)
    assert room.run(room.sh(f"exit {128 + number}")).signal is None


def test_standard_input_is_empty(room: Room) -> None:
    spec = room.sh("cat; echo read")
    assert room.run(spec).exit_code == 0
    assert room.out(spec) == b"read\n"


@pytest.mark.parametrize("size", [0, 1, 5_000, 3_000_000])
def test_what_is_given_stands_on_the_standard_input(room: Room, size: int) -> None:
    given = bytes(number % 256 for number in range(size))
    spec = replace(room.sh("sha256sum"), stdin=given)
    assert room.run(spec).exit_code == 0
    assert room.out(spec).split()[0].decode() == sha256(given).hexdigest()


def test_a_standard_input_that_nobody_reads_keeps_nothing_waiting(room: Room) -> None:
    assert room.run(replace(room.sh("exit 3"), stdin=b"x" * 3_000_000)).exit_code == 3


def test_an_environment_larger_than_what_a_line_holds_is_passed_whole(room: Room) -> None:
    many = tuple((f"V{number}", "x" * 1000) for number in range(400))
    spec = replace(room.sh("env | grep -c '^V[0-9]*=x\\{1000\\}$'"), env=(("PATH", os.environ["PATH"]), *many))
    assert room.run(spec).exit_code == 0
    assert room.out(spec) == b"400\n"


def test_the_two_streams_are_kept_apart_and_whole(room: Room) -> None:
    spec = room.sh("i=0; while [ $i -lt 500 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done")
    room.run(spec)
    assert room.out(spec) == b"".join(b"out %d\n" % i for i in range(500))
    errors = room.processes.read_output(spec.folder, "stderr", 1 << 20, tail=False)
    assert errors == b"".join(b"err %d\n" % i for i in range(500))


def test_a_command_that_ends_at_once_never_loses_its_output(room: Room) -> None:
    async def all_of_them() -> list[bytes]:
        specs = [room.sh(f"echo line {number}") for number in range(80)]
        for start in range(0, 80, 20):
            await room.start_together(specs[start : start + 20])
            for spec in specs[start : start + 20]:
                assert isinstance(await room.processes.wait(spec.folder, LONG), Ended)
        return [room.out(spec) for spec in specs]

    assert asyncio.run(all_of_them()) == [b"line %d\n" % number for number in range(80)]


def test_fifty_commands_run_at_once_and_each_keeps_its_own(room: Room) -> None:
    async def all_of_them() -> list[tuple[Ended | Gone | TimedOut, bytes]]:
        script = "while [ ! -e {root}/go ]; do sleep 0.05; done; echo {n}; exit {n}"
        specs = [room.sh(script.format(root=room.root, n=number)) for number in range(50)]
        await room.start_together(specs)
        waiting = [asyncio.create_task(room.processes.wait(spec.folder, LONG)) for spec in specs]
        await asyncio.sleep(0)
        (room.root / "go").touch()
        return [(await task, room.out(spec)) for task, spec in zip(waiting, specs, strict=True)]

    for number, (outcome, written) in enumerate(asyncio.run(all_of_them())):
        assert isinstance(outcome, Ended)
        assert (outcome.exit_code, written) == (number, b"%d\n" % number)


def test_only_the_given_environment_and_the_mark_are_seen(room: Room) -> None:
    spec = room.spec("/usr/bin/env")
    room.run(spec)
    lines = sorted(room.out(spec).decode().splitlines())
    assert lines == sorted([f"HANDRAIL_MARK={spec.mark}", f"PATH={os.environ['PATH']}"])


def test_the_folder_and_its_files_are_for_the_owner_only(room: Room) -> None:
    spec = room.sh("echo secret")
    room.run(spec)
    folder = Path(spec.folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert modes == dict.fromkeys(("process.json", "status", "stdout", "stderr"), 0o600)


def test_signals_that_we_ignore_are_not_ignored_by_commands(room: Room) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        spec = room.sh("kill -INT $$; echo survived")
        assert room.run(spec).signal == signal.SIGINT
    finally:
        signal.signal(signal.SIGINT, before)


def test_descriptors_that_we_leak_do_not_reach_commands(room: Room) -> None:
    leaked, other = os.pipe()
    os.set_inheritable(leaked, True)  # noqa: FBT003 - the form of the library
    try:
        spec = room.sh("ls /dev/fd/ | wc -l; ls -l /dev/fd/ | grep -c pipe:")
        room.run(spec)
        assert room.out(spec).split()[1] == b"1", "only the pipe of the pipeline itself"
    finally:
        os.close(leaked)
        os.close(other)


def test_a_missing_program_is_exit_127_with_a_reason(room: Room) -> None:
    ended = room.run(room.spec("no-such-program", "--flag"))
    assert (ended.exit_code, ended.reason) == snapshot((127, "cannot run no-such-program: No such file or directory"))


def test_a_file_that_is_no_program_is_exit_126_with_a_reason(room: Room) -> None:
    (room.root / "plain.txt").write_text("hello")
    ended = room.run(room.spec("./plain.txt"))
    assert (ended.exit_code, ended.reason) == snapshot((126, "cannot run ./plain.txt: Permission denied"))


def test_a_missing_working_folder_is_said_so(room: Room) -> None:
    ended = room.run(room.spec("true", cwd="/no/such/folder"))
    assert (ended.exit_code, ended.reason) == snapshot(
        (127, "the working folder /no/such/folder cannot be entered: No such file or directory")
    )


def test_arguments_that_no_kernel_takes_are_a_reason_and_no_crash(room: Room) -> None:
    assert "Argument list too long" in (room.run(room.spec("true", "x" * 300_000)).reason or "")
    assert "null byte" in (room.run(room.spec("true", "a\0b")).reason or "")


def test_a_folder_that_cannot_be_made_is_an_environment_fault(room: Room) -> None:
    (room.root / "file").write_text("")
    spec = ProcessSpec("run:1", ("true",), "/", (), str(room.root / "file" / "inside"))
    with pytest.raises(EnvironmentFault, match=r"a process cannot be started in .*: Not a directory"):
        room.processes.start(spec)
    assert room.processes.look(spec.folder) is None


def test_a_symbolic_link_in_place_of_an_output_file_is_not_followed(room: Room) -> None:
    spec = room.sh("echo stolen")
    Path(spec.folder).mkdir()
    (Path(spec.folder) / "stdout").symlink_to(room.root / "victim")
    with pytest.raises(EnvironmentFault):
        room.processes.start(spec)
    assert not (room.root / "victim").exists()


def test_a_keeper_that_cannot_start_is_an_environment_fault(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    KEEPER_POOL.close()
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(EnvironmentFault, match="a process cannot be started"):
        room.processes.start(room.sh("true"))


def test_output_without_end_is_cut_at_the_limit_and_the_command_ended(room: Room) -> None:
    spec = room.sh("trap '' TERM; yes", limit=100_000)
    ended = room.run(spec)
    assert (ended.signal, ended.stdout_size) == (signal.SIGKILL, 100_000)
    assert ended.reason == snapshot("it wrote more than 100000 bytes to stdout or stderr and was killed")


def test_the_limit_is_for_output_and_not_for_files_that_a_command_makes(room: Room) -> None:
    spec = room.sh("head -c 300000 /dev/zero > big; wc -c < big", limit=1000)
    assert room.run(spec).exit_code == 0
    assert room.out(spec).strip() == b"300000"
