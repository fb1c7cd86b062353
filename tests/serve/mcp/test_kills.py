"""Whenever a server is killed, and however many there are: the walk goes on, nothing is lost or done twice."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from handrail.runtime.history import events_of
from support.cli.running import until
from support.pull import crashing as pull_crashing
from support.pull.room import HANDRAIL, Json, Pull, Said, advancing, chain

pytestmark = pytest.mark.system  # takes long: many processes of its own

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def lived(folder: Path, how: str) -> tuple[int, dict[str, Said], list[Any]]:
    """Walk in processes that die; give how many did, what was answered, and what was recorded."""
    folder.mkdir()
    words = [sys.executable, pull_crashing.__file__, str(folder), how]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stderr
    pull = Pull(folder)
    pull.assert_sound()
    said = pull_crashing.Walker(folder, pull).said
    branch = said["branch"].run
    events = [_recorded(pull, said["start"].run), _recorded(pull, branch)]
    assert set(pull.size()) == {said["start"].run, branch}
    pull.close()
    return int(done.stdout), said, events


def _recorded(pull: Pull, run: str) -> list[tuple[str, Any, Any]]:
    found = [event for _, event in events_of(pull.log, run)]
    names = ("address", "output", "changes")
    return [(event.kind, *(getattr(event, name, None) for name in names)) for event in found]  # pyright: ignore[reportReturnType]


def test_a_walk_whose_server_dies_at_every_commit_once_ends_as_one_that_never_died(tmp_path: Path) -> None:
    none, said, events = lived(tmp_path / "one", "calm")
    killed, said_again, events_again = lived(tmp_path / "many", "deadly")
    assert none == 0
    assert killed >= 2 * len(pull_crashing.TURNS)
    assert events_again == events
    assert {turn: _told(each) for turn, each in said_again.items()} == {
        turn: _told(each) for turn, each in said.items()
    }
    assert said["done"].complete
    assert said["branch done"].complete


def _told(said: Said) -> tuple[Any, ...]:
    """What an answer says, without the tokens, which name their holder."""
    step: Json = said.data.get("pending") or {}
    return said.data.get("kind"), said.data.get("isComplete"), step.get("address"), step.get("prompt"), said.is_error


class Wire:
    """A `handrail mcp` process, spoken to line by line, so that it can be killed between any two of them."""

    def __init__(self, pull: Pull) -> None:
        self.process = subprocess.Popen(
            [HANDRAIL, "mcp"], cwd=pull.workspace, env=pull.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._number = 0
        self.send("initialize", HELLO)
        self.receive()
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _write(self, message: Json) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def send(self, method: str, params: Json) -> None:
        self._number += 1
        self._write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})

    def send_call(self, tool: str, arguments: Json) -> None:
        self.send("tools/call", {"name": tool, "arguments": arguments})

    def receive(self) -> Json | None:
        """The next answer; None where the server is gone."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self._number:
                return message["result"]
        return None

    def encode_message(self) -> Said | None:
        result = self.receive()
        if result is None:
            return None
        texts = tuple(each["text"] for each in result["content"])
        return Said(texts, result["structuredContent"], bool(result.get("isError")))

    def call(self, tool: str, **arguments: Any) -> Said:
        self.send_call(tool, arguments)
        said = self.encode_message()
        assert said is not None
        return said

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


@contextmanager
def served(pull: Pull) -> Generator[Wire]:
    wire = Wire(pull)
    try:
        yield wire
    finally:
        wire.close()


def start(wire: Wire, pull: Pull) -> Said:
    return wire.call("start_workflow", workflowId="sample-flow", workspacePath=str(pull.workspace), goal="Do it.")


def test_a_real_server_is_killed_between_and_during_calls_and_the_next_one_goes_on(pull: Pull) -> None:
    pull.add(chain(4))
    place = {"workspacePath": str(pull.workspace)}
    with served(pull) as wire:
        wire.send_call("start_workflow", {"workflowId": "sample-flow", "goal": "Paint the shed.", **place})
        wait_for_growth(pull, "sample-flow-1", 0)
        wire.kill()
    with served(pull) as wire:
        found = wire.call("resume_session", query="paint shed", **place)
        said = wire.call("continue_workflow", **found.data["candidates"][0]["nextCall"]["params"])
        said = wire.call("continue_workflow", **advancing(said.token, "Notes of step-1."))
        wire.send_call("continue_workflow", advancing(said.token, "Notes of step-2."))
        wire.kill()
    with served(pull) as wire:
        said = wire.call("continue_workflow", **advancing(said.token, "Notes of step-2."))
        recorded = pull.log.last(said.run).seq
        wire.send_call("continue_workflow", advancing(said.token, "Notes of step-3."))
        wait_for_growth(pull, said.run, recorded)
        wire.kill()
    with served(pull) as wire:
        said = wire.call("continue_workflow", **advancing(said.token, "Notes of step-3."))
        assert said.address == "step-4"
        assert wire.call("continue_workflow", **advancing(said.token, "Notes of step-4.")).complete
    names = [f"step-{number}" for number in range(1, 5)]
    assert [each.address for each in pull.events(said.run) if each.kind == "step_ended"] == names
    steps = pull.state(said.run).steps
    assert [steps[name].stdout for name in names] == [f"Notes of {name}." for name in names]
    assert len(pull.size()) == 1
    pull.assert_sound()


def wait_for_growth(pull: Pull, run: str, before: int) -> None:
    """Wait until a call has left its mark in the log, of which the last event was known before the call was sent."""
    until(lambda: pull.log.last(run).seq > before)


def test_two_servers_that_get_the_same_call_at_once_record_it_once_and_warn_who_came_second(pull: Pull) -> None:
    pull.add(chain(12))
    with served(pull) as one, served(pull) as other:
        said = begun = start(one, pull)
        while not said.complete:
            said = at_once(one, other, said)
        branched = at_once(one, other, pull.rehydrate(begun))
    ended = [each.began for each in pull.events(said.run) if each.kind == "step_ended"]
    assert len(ended) == len(set(ended)) == 12
    assert branched.address == "step-2"
    assert set(pull.size()) == {said.run, branched.run}
    pull.assert_sound()


def at_once(one: Wire, other: Wire, said: Said) -> Said:
    """Complete a step on two servers at the same time, each in its own words."""
    for wire in (one, other):
        wire.send_call("continue_workflow", advancing(said.token, f"By {wire.process.pid}."))
    first, second = one.encode_message(), other.encode_message()
    assert first is not None
    assert second is not None
    assert first.unwarned == second.unwarned
    assert sorted([*first.warnings, *second.warnings]) == ["TOKEN_ALREADY_USED"]
    return first
