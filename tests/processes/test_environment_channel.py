"""The private channel on which environments are handed over: who may use it, and that nobody can block it."""

import asyncio
import json
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from handrail.processes.environment_channel import MAX_BYTES, Endpoint, Peer, SocketEnvironments, short_socket_path
from handrail.processes.environment_server import EnvironmentServer
from handrail.processes.run_environment import HandedEnvironments, SharedEnvironments

ME = Peer(os.getpid(), os.getuid())


class Runs:
    """Runs to which this process attends, but for one."""

    done: str = ""

    def can_hand_over(self, run: str, pid: int, *, by_agent: bool) -> bool:
        return run != "others-1" and pid == os.getpid() and not by_agent

    def is_done(self, run: str) -> bool:
        return run == self.done


@pytest.fixture
def environments() -> HandedEnvironments:
    return HandedEnvironments(SharedEnvironments(lambda _, __: ""), lambda run: run.partition(".")[0])


def during(server: EnvironmentServer, act: Callable[[], object]) -> object:
    """Do something in a thread while a server answers."""

    async def both() -> object:
        serving = asyncio.create_task(server.serve())
        try:
            return await asyncio.wait_for(asyncio.to_thread(act), 60)
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)

    return asyncio.run(both())


def channel(data: Path, server: EnvironmentServer, pid: int | None = None) -> SocketEnvironments:
    return SocketEnvironments(data, lambda: Endpoint(os.getpid() if pid is None else pid, server.name))


@pytest.mark.parametrize("folder", ["data", "d" * 120])
def test_an_environment_is_handed_over_held_for_a_run_and_its_children_and_given_back(
    tmp_path: Path, environments: HandedEnvironments, folder: str
) -> None:
    data = tmp_path / folder
    data.mkdir()
    server = EnvironmentServer(data, environments, Runs())
    assert server.open() == server.name
    path = data / "driver" / server.name
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    asks = channel(data, server)
    assert during(server, lambda: asks.offer("fix-1", {"PATH": "/mine", "ODD": "\udcff"})) == "held"
    assert environments.environment_of("fix-1.3").variables()["PATH"] == "/mine"
    assert during(server, lambda: asks.offer("fix-1", {"PATH": "/other"})) == "kept"
    assert during(server, lambda: asks.offer("others-1", {"PATH": "/other"})) == "kept"
    assert during(server, lambda: asks.fetch("fix-1")) == {"PATH": "/mine", "ODD": "\udcff"}
    assert during(server, lambda: asks.fetch("others-1")) is None
    assert during(server, lambda: asks.offer("fix-1", {"PATH": "/new"}, instead=True)) == "held"
    assert during(server, lambda: [each.run for each in asks.list_held() or ()]) == ["", "fix-1"]
    server.close()
    assert not path.exists()
    assert asks.offer("fix-1", {}) == "gone"


def test_a_driver_without_a_socket_is_an_older_one_and_none_at_all_is_gone(tmp_path: Path) -> None:
    assert SocketEnvironments(tmp_path, lambda: Endpoint(1, "")).offer("fix-1", {}) == "older"
    assert SocketEnvironments(tmp_path, lambda: None).offer("fix-1", {}) == "gone"
    assert SocketEnvironments(tmp_path, lambda: Endpoint(1, "../x.socket")).fetch("fix-1") is None


def test_nothing_is_told_to_a_process_that_is_not_the_driver(tmp_path: Path, environments: HandedEnvironments) -> None:
    server = EnvironmentServer(tmp_path, environments, Runs())
    server.open()
    assert during(server, lambda: channel(tmp_path, server, pid=1).offer("fix-1", {"A": "b"})) == "gone"
    assert environments.list_held() == {}
    server.close()


def test_silent_and_hostile_peers_block_nobody(tmp_path: Path, environments: HandedEnvironments) -> None:
    server = EnvironmentServer(tmp_path, environments, Runs())
    server.open()
    path = tmp_path / "driver" / server.name

    def act() -> object:
        silent = [socket.socket(socket.AF_UNIX) for _ in range(5)]
        with short_socket_path(path) as name:
            for each in silent:
                each.connect(name)
            silent[0].sendall(b'{"ask": ')
            silent[1].sendall(b"[" * 100_000)
            silent[1].shutdown(socket.SHUT_WR)
            silent[2].sendall(b"\xff\xfe")
            silent[2].shutdown(socket.SHUT_WR)
            silent[3].close()
        answer = channel(tmp_path, server).offer("fix-1", {"A": "b"})
        for each in silent:
            each.close()
        return answer

    assert during(server, act) == "held"
    assert channel(tmp_path, server).offer("fix-1", {"A": "b" * MAX_BYTES}) == "gone"
    server.close()


@pytest.mark.parametrize(
    "call",
    [
        *([], 7, None, {}, {"ask": "give"}, {"ask": "give", "run": 3}, {"ask": "hold", "run": "fix-1"}),
        {"ask": "hold", "run": "fix-1", "variables": {"A": 1}},
        {"ask": "hold", "run": "fix-1", "variables": {"A": "b\0c"}},
        {"ask": "hold", "run": "others-1", "variables": {"A": "b"}, "instead": True},
    ],
)
def test_a_call_that_is_not_understood_or_not_allowed_changes_nothing(
    tmp_path: Path, environments: HandedEnvironments, call: object
) -> None:
    server = EnvironmentServer(tmp_path, environments, Runs())
    server.answer(ME, json.dumps(call).encode())
    assert environments.list_held() == {}


def test_a_run_that_is_over_leaves_no_environment(tmp_path: Path, environments: HandedEnvironments) -> None:
    runs = Runs()
    server = EnvironmentServer(tmp_path, environments, runs)
    told = {"ask": "hold", "run": "fix-1", "variables": {"A": "b"}}
    assert server.answer(ME, json.dumps(told).encode()) == {"held": True}
    runs.done = "fix-1"
    assert list(server.answer(ME, b'{"ask": "list"}')["runs"]) == [""]  # type: ignore[call-overload]


def test_the_sockets_of_drivers_that_were_killed_are_swept(tmp_path: Path, environments: HandedEnvironments) -> None:
    server = EnvironmentServer(tmp_path, environments, Runs())
    server.open()
    (tmp_path / "driver" / "1.socket").touch()
    server.sweep()
    assert [each.name for each in (tmp_path / "driver").iterdir()] == [server.name]
    server.close()
