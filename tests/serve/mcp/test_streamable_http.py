"""The tools over HTTP: only with the token, only by names of this machine, and without a session to lose."""

import asyncio
import json
import signal
import stat
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette
from starlette.routing import Mount

from handrail.serve.mcp.server import server_of
from handrail.serve.mcp.streamable_http import app_of
from support.pull.room import HANDRAIL, NOTES, Pull, advancing, chain
from support.pull.served import served, token_in

LONG = 60
TOKEN = "a-token-for-this-test-alone"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


async def called(url: str, token: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Call a tool with a client of its own."""
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=LONG)
    async with (
        http,
        streamable_http_client(url, http_client=http) as (reading, writing, *_),
        ClientSession(reading, writing) as session,
    ):
        await session.initialize()
        result = await session.call_tool(name, arguments)
    return dict(result.structured_content or {})


def test_a_walk_over_http_survives_the_server_since_nothing_is_kept_in_it(pull: Pull) -> None:
    name = pull.add(chain(2))
    begin = {"workflowId": name, "workspacePath": str(pull.workspace), "goal": "try it"}
    with served(pull) as (url, _):
        started = asyncio.run(called(url, token_in(pull), "start_workflow", begin))
    token = token_in(pull)
    with served(pull) as (url, process):
        assert token_in(pull) == token
        second = asyncio.run(called(url, token, "continue_workflow", advancing(started["continueToken"], NOTES)))
        assert second["pending"]["stepId"] == "step-2"
        last = asyncio.run(called(url, token, "continue_workflow", advancing(second["continueToken"], NOTES)))
        assert last["isComplete"]
        process.send_signal(signal.SIGINT)
        assert process.wait(LONG) == 0


def refused(pull: Pull, *words: str) -> str:
    """Try to start a server, and give what it says."""
    command = [HANDRAIL, "mcp", "--http", *words]
    done = subprocess.run(command, env=pull.environ, capture_output=True, text=True, timeout=LONG, check=False)
    assert done.returncode != 0
    return done.stderr


def test_a_token_that_others_can_read_is_refused_and_so_is_a_port_that_is_taken(pull: Pull) -> None:
    with served(pull) as (url, process):
        path = pull.data / "mcp-token"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        said = refused(pull, url.rpartition(":")[2].partition("/")[0], "--token-file", str(pull.folder / "other"))
        assert "Address already in use" in said
        assert "next: choose another port, or 0 for any free one" in said
        process.terminate()
        assert process.wait(LONG) == 0
    assert len((pull.folder / "other").read_text().strip()) >= 32
    path.chmod(0o644)
    assert f"next: chmod 600 {path}" in refused(pull, "0")


@asynccontextmanager
async def application(pull: Pull, host: str = "127.0.0.1") -> AsyncGenerator[httpx2.AsyncClient]:
    """The application in this process, mounted in another one."""
    app = app_of(server_of(pull.calls), TOKEN, host)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with app.router.lifespan_context(app):
            yield

    outer = Starlette(routes=[Mount("/agents", app)], lifespan=lifespan)
    async with outer.router.lifespan_context(outer):
        transport = httpx2.ASGITransport(app=outer)
        async with httpx2.AsyncClient(transport=transport, base_url=f"http://{host}:8000") as client:
            yield client


def answered(pull: Pull, headers: dict[str, str], body: object = PING, host: str = "127.0.0.1") -> httpx2.Response:
    async def ask() -> httpx2.Response:
        async with application(pull, host) as client:
            return await client.post("/agents/mcp", headers={**HEADERS, **headers}, content=json.dumps(body))

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("shown", "status"),
    [
        (f"Bearer {TOKEN}", 200),
        (f"bearer {TOKEN}", 200),
        (f"Bearer {TOKEN}x", 401),
        (f"Basic {TOKEN}", 401),
        ("Bearer", 401),
        (None, 401),
    ],
)
def test_only_who_shows_the_token_is_answered(pull: Pull, shown: str | None, status: int) -> None:
    headers = {} if shown is None else {"authorization": shown}
    answer = answered(pull, headers)
    assert answer.status_code == status
    assert ("www-authenticate" in answer.headers) == (status == 401)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "127.0.0.1:8000"}, 200),
        ({"host": "localhost:8000"}, 200),
        ({"host": "evil.example:8000"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "http://localhost:3000"}, 200),
    ],
)
def test_a_page_of_elsewhere_cannot_call_even_with_the_token(pull: Pull, headers: dict[str, str], status: int) -> None:
    assert answered(pull, {"authorization": f"Bearer {TOKEN}", **headers}).status_code == status


def test_a_server_that_is_open_to_others_is_addressed_by_its_own_name_too(pull: Pull) -> None:
    shown = {"authorization": f"Bearer {TOKEN}"}
    assert answered(pull, {**shown, "host": "10.1.2.3:8000"}, host="10.1.2.3").status_code == 200
    assert answered(pull, {**shown, "host": "evil.example:8000"}, host="10.1.2.3").status_code == 421
    assert answered(pull, {**shown, "host": "any.example:8000"}, host="0.0.0.0").status_code == 200


def test_a_token_of_before_a_new_key_is_read_and_one_of_two_keys_ago_is_not(pull: Pull, tmp_path: Path) -> None:
    started = pull.start(chain(3))
    for code in ("", "TOKEN_UNKNOWN_KEY"):
        subprocess.run([HANDRAIL, "mcp", "--rotate-key"], env=pull.environ, cwd=tmp_path, check=True, timeout=LONG)
        again = pull.again()
        assert again.rehydrate(started.token).code == code
        again.close()
