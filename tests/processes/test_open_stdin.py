"""A command that is told something while it runs: whole and once, by whoever speaks, until it says that it is done."""

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from handrail.ports.processes import Gone, ProcessSpec, StdinChannel
from support.workspace.process_room import Room

ECHO = "while read -r line; do touch go; echo heard $line; test $line != last || echo DONE; done; echo end"


@pytest.fixture
def room(tmp_path: Path) -> Room:
    (tmp_path / "said").mkdir()
    return Room(tmp_path)


def talked_to(room: Room, script: str) -> ProcessSpec:
    return replace(room.sh(script), talk=StdinChannel(str(room.root / "said"), "DONE"))


def say(room: Room, name: str, text: str) -> None:
    (room.root / "said" / f".{name}").write_text(text)
    (room.root / "said" / f".{name}").rename(room.root / "said" / name)


def test_what_is_put_there_is_said_in_order_until_the_command_is_done(room: Room) -> None:
    say(room, "1", "one\n")
    spec = talked_to(room, ECHO)
    room.processes.start(spec)
    room.until("go")
    say(room, "3", "three\n")
    say(room, "4", "last\n")
    assert room.finished(room.wait(spec)).code == 0
    assert room.out(spec) == b"heard one\nheard three\nheard last\nDONE\nend\n"


def test_what_comes_too_late_is_not_said(room: Room) -> None:
    spec = talked_to(room, "echo DONE; cat >/dev/null; touch over; while ! test -e late; do sleep 0.01; done; cat")
    room.processes.start(spec)
    room.until("over")
    say(room, "1", "one\n")
    (room.root / "late").touch()
    assert room.finished(room.wait(spec)).code == 0
    assert room.out(spec) == b"DONE\n"


def test_a_message_larger_than_a_pipe_arrives_whole(room: Room) -> None:
    say(room, "1", "x" * 900_000 + "\n")
    spec = talked_to(room, "head -n 1 | wc -c; echo DONE; cat")
    assert room.run(spec).code == 0
    assert room.out(spec) == b"900001\nDONE\n"


def test_a_command_that_does_not_listen_ends_as_any_other(room: Room) -> None:
    say(room, "1", "x" * 900_000)
    spec = talked_to(room, "exec 0<&-; exit 3")
    assert room.run(spec).code == 3


def test_a_command_that_is_never_done_is_ended_with_everything(room: Room) -> None:
    spec = talked_to(room, "touch there; cat; cat")
    room.processes.start(spec)
    room.until("there")
    assert room.end(spec, (5.0, 5.0))
    assert room.processes.find_by_marker(spec.mark) == ()


def test_the_death_of_the_keeper_closes_the_input(room: Room) -> None:
    spec = talked_to(room, "touch there; cat; touch closed")
    keeper = room.processes.start(spec).pid
    room.until("there")
    os.kill(keeper, signal.SIGKILL)
    room.until("closed")
    assert isinstance(room.wait(spec), Gone), "nobody was left to write how it ended"
