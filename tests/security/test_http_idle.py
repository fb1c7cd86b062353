"""MCP over HTTP: connections without the token neither stop the server nor fill its output."""

import json
import re
import resource
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.security.black_box import PATIENCE, PROGRAM, BlackBox, make_black_box

pytestmark = pytest.mark.system  # takes long: many processes of its own

FILES = 256
IDLE = 300
LONG = 30
"""Seconds after which an answer is given up."""
CALL = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@dataclass(frozen=True, slots=True)
class Server:
    """A running `handrail mcp --http`."""

    port: int
    token: str
    stderr: Path

    def connect(self) -> socket.socket:
        """Open a connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=LONG)

    def request(self, body: bytes, token: str | None = None, length: int | None = None) -> bytes:
        """Give the bytes of a request."""
        shown = self.token if token is None else token
        lines = [
            "POST /mcp HTTP/1.1",
            f"Host: 127.0.0.1:{self.port}",
            f"Authorization: Bearer {shown}",
            "Content-Type: application/json",
            "Accept: application/json, text/event-stream",
            f"Content-Length: {len(body) if length is None else length}",
        ]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + body

    def ping(self) -> int:
        """Make a call as a client would, and give the status of the answer; 0 where none comes."""
        try:
            with self.connect() as client:
                client.sendall(self.request(json.dumps(CALL).encode()))
                found = re.match(rb"HTTP/1.1 (\d+)", client.recv(4096))
        except OSError:
            return 0
        return 0 if found is None else int(found[1])

    def lines(self) -> list[str]:
        """What it wrote to standard error."""
        return self.stderr.read_text("utf-8", "replace").splitlines()


@contextmanager
def served(box: BlackBox, **environ: str) -> Generator[Server]:
    """Start the server with few file descriptors."""
    stderr = box.base / "http-stderr"
    with (
        stderr.open("wb") as err,
        subprocess.Popen(
            ["/bin/sh", "-c", f'ulimit -n {FILES}; exec "{PROGRAM}" mcp --http 0'],
            cwd=box.repository,
            env={**box.env, **environ},
            stdout=subprocess.PIPE,
            stderr=err,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        try:
            found = re.search(r"http://127.0.0.1:(\d+)/", process.stdout.readline())
            assert found is not None
            token = (box.home / "data" / "mcp-token").read_text().strip()
            yield Server(int(found[1]), token, stderr)
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """A server with the usual deadlines; this process holds the other ends of many connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 4 * IDLE:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4 * IDLE, hard), hard))
    with served(make_black_box(tmp_path_factory.mktemp("usual"))) as started:
        yield started


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """A server with short deadlines."""
    short = {"HANDRAIL_MCP_HEADER_TIMEOUT": "0.4", "HANDRAIL_MCP_BODY_TIMEOUT": "0.4"}
    with served(make_black_box(tmp_path_factory.mktemp("hasty")), **short) as started:
        yield started


def is_closed(client: socket.socket) -> bool:
    """Tell whether the other side has closed a connection, after whatever it said."""
    client.settimeout(0)
    try:
        while client.recv(4096):
            pass
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
    return True


def wait_for(is_so: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Wait until something is so, for a bounded time."""
    until = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def test_calls_get_through_while_hundreds_of_connections_wait_without_a_token(server: Server) -> None:
    with ExitStack() as stack:
        assert server.ping() == 200
        for number in range(IDLE):
            client = stack.enter_context(server.connect())
            client.sendall(b"POST /mcp HTTP/1.1\r\n" if number % 2 else b"")
        assert [server.ping() for _ in range(3)] == [200] * 3
        assert len(server.lines()) < 20
        assert not any("Traceback" in line for line in server.lines())


def test_a_request_that_is_on_its_way_is_not_ended_for_connections_that_wait(server: Server) -> None:
    body = json.dumps(CALL).encode()
    with ExitStack() as stack, server.connect() as client:
        client.sendall(server.request(body[:5], length=len(body)))
        for _ in range(IDLE):
            stack.enter_context(server.connect())
        assert server.ping() == 200
        client.sendall(body[5:])
        assert client.recv(4096).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "sent",
    [b"", b"POST /mcp HTTP/1.1\r\n", b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n"],
)
def test_headers_that_never_end_are_waited_for_until_a_deadline(hasty: Server, sent: bytes) -> None:
    with hasty.connect() as client:
        client.sendall(sent)
        assert wait_for(lambda: is_closed(client))
        assert hasty.ping() == 200


def test_headers_that_trickle_in_do_not_move_their_deadline(hasty: Server) -> None:
    with hasty.connect() as client:

        def is_over() -> bool:
            try:
                client.settimeout(LONG)
                client.sendall(b"X: y\r\n")
            except OSError:
                return True
            return is_closed(client)

        client.sendall(b"POST /mcp HTTP/1.1\r\n")
        assert wait_for(is_over)
        assert hasty.ping() == 200


def test_the_second_request_of_a_connection_has_the_same_deadline(hasty: Server) -> None:
    with hasty.connect() as client:
        client.sendall(hasty.request(json.dumps(CALL).encode()))
        assert client.recv(4096).startswith(b"HTTP/1.1 200")
        client.sendall(b"POST /mcp HT")
        assert wait_for(lambda: is_closed(client))


def test_a_body_that_never_ends_is_waited_for_until_a_deadline(hasty: Server) -> None:
    with hasty.connect() as client:
        client.sendall(hasty.request(b"{", length=1000))
        assert wait_for(lambda: is_closed(client))
        assert hasty.ping() == 200
        assert not any("Traceback" in line for line in hasty.lines())


def test_a_client_that_goes_away_in_the_middle_is_a_line_in_the_log(server: Server) -> None:
    before = len(server.lines())
    for _ in range(20):
        with server.connect() as client:
            client.sendall(server.request(b"{", length=1000))
            # The server has taken it up: it answers others meanwhile.
            assert server.ping() == 200
    assert wait_for(lambda: len(server.lines()) > before)
    assert len(server.lines()) - before <= 20
    assert not any("Traceback" in line for line in server.lines())


def test_a_client_without_the_token_is_answered_once_and_not_listened_to(server: Server) -> None:
    with server.connect() as client:
        client.sendall(server.request(b"{", token="wrong", length=10_000_000))
        assert client.recv(4096).startswith(b"HTTP/1.1 401")
        assert wait_for(lambda: is_closed(client))
