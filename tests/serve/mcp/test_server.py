"""The server over stdio: it answers as the protocol says, loads what calls need late, and outlives what goes wrong."""

import asyncio
import json
import subprocess
import sys
from typing import Any

import pytest
from inline_snapshot import snapshot

from handrail.serve.mcp.server import answer_typed
from handrail.serve.mcp.tool_result import ToolResult
from handrail.store.sqlite.database import FILE
from support.pull.client import mcp_client
from support.pull.room import HANDRAIL, Pull, chain

Json = dict[str, Any]

LOADED = """
import sys
import handrail.cli.begin.mcp, handrail.serve.mcp.server
print(*(name for name in sys.modules if name.startswith("handrail.") and name.count(".") > 1))
"""
ELSEWHERE = """
import sys
from importlib import import_module
from pkgutil import walk_packages
import handrail
for module in walk_packages(handrail.__path__, "handrail."):
    if not module.name.startswith("handrail.serve"):
        import_module(module.name)
print(*{"mcp", "mcp_types", "pydantic", "uvicorn"} & sys.modules.keys())
"""
CLIENT: Json = {"capabilities": {}, "clientInfo": {"name": "tester", "version": "1"}}
INITIALIZED: Json = {"method": "notifications/initialized"}


def test_a_client_is_greeted_before_anything_of_the_engine_is_loaded() -> None:
    parts = {name.split(".")[1] for name in _run(LOADED).split()}
    assert parts <= {"cli", "serve", "model"}


def test_nothing_of_the_sdk_is_loaded_by_anything_but_the_server() -> None:
    assert _run(ELSEWHERE).split() == []


def test_each_message_is_answered_as_the_protocol_says(pull: Pull) -> None:
    answers = _answers(
        pull,
        {"id": "early", "method": "ping"},
        {"id": "not yet", "method": "tools/list"},
        {"id": "no version", "method": "initialize", "params": {"protocolVersion": 7}},
        _initialize("2025-06-18"),
        INITIALIZED,
        {"id": "ping", "method": "ping"},
        {"id": "tools", "method": "tools/list"},
        {"id": "refused", "method": "tools/call", "params": {"name": "list_workflows", "arguments": {}}},
        {"id": "no name", "method": "tools/call", "params": {"arguments": {}}},
        {"id": "no tool", "method": "tools/call", "params": {"name": "nothing"}},
        {"id": "resources", "method": "resources/list"},
        {"id": "templates", "method": "resources/templates/list"},
        {"id": "no resource", "method": "resources/read", "params": {"uri": "handrail://nothing"}},
        {"id": "prompts", "method": "prompts/list"},
        {"id": "no prompt", "method": "prompts/get", "params": {"name": "nothing"}},
        {"id": "level", "method": "logging/setLevel", "params": {"level": "info"}},
        {"id": "no method", "method": "no/such/method"},
        {"method": "notifications/cancelled", "params": {"requestId": 99}},
        {"neither": "a request nor an answer"},
        {"id": "still there", "method": "ping"},
    )
    assert {name: _outline(answer) for name, answer in answers.items()} == snapshot(
        {
            "early": [],
            "not yet": -32602,
            "no version": -32602,
            "initialize": ["capabilities", "instructions", "protocolVersion", "serverInfo"],
            "ping": [],
            "tools": ["tools"],
            "refused": "VALIDATION_ERROR",
            "no name": -32602,
            "no tool": "NOT_FOUND",
            "resources": ["resources"],
            "templates": ["resourceTemplates"],
            "no resource": -32602,
            "prompts": ["prompts"],
            "no prompt": -32602,
            "level": [],
            "no method": -32601,
            "still there": [],
        }
    )


@pytest.mark.parametrize(
    ("asked", "given"),
    [("2024-11-05", "2024-11-05"), ("2025-06-18", "2025-06-18"), ("1999-01-01", "2025-11-25")],
)
def test_the_version_of_the_protocol_is_the_clients_or_the_newest_with_a_greeting(
    pull: Pull, asked: str, given: str
) -> None:
    assert _answers(pull, _initialize(asked))["initialize"]["result"]["protocolVersion"] == given


def test_a_client_of_the_newest_protocol_needs_no_greeting(pull: Pull) -> None:
    answers = _answers(pull, _modern("server/discover"), _modern("tools/list"))
    assert sorted(answers["server/discover"]["result"]["capabilities"]) == [
        *("completions", "logging", "prompts", "resources", "tools"),
    ]
    names = [tool["name"] for tool in answers["tools/list"]["result"]["tools"]]
    assert "start_workflow" in names


def test_a_database_that_cannot_be_opened_is_an_answer_and_not_the_end_of_the_server(pull: Pull) -> None:
    name = pull.add(chain(1))
    kept = (pull.data / FILE).read_bytes()
    pull.close()

    async def walk() -> tuple[str, str]:
        async with mcp_client(pull) as client:
            for each in pull.data.glob(f"{FILE}*"):
                each.unlink()
            (pull.data / FILE).write_bytes(b"no database" * 1000)
            first = await client.start(name, pull.workspace)
            (pull.data / FILE).write_bytes(kept)
            return first.code, (await client.start(name, pull.workspace)).run

    assert asyncio.run(walk()) == ("STORAGE_DAMAGED", "sample-flow-1")


def _run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _answers(pull: Pull, *messages: Json) -> dict[str, Json]:
    """Send messages to a server, one after the other; give its answers by the ids of the requests."""
    with subprocess.Popen(
        [HANDRAIL, "mcp"],
        cwd=pull.workspace,
        env=pull.environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin
        assert server.stdout
        answers: dict[str, Json] = {}
        for message in messages:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            server.stdin.flush()
            if "id" in message:
                answer = json.loads(server.stdout.readline())
                answers[answer["id"]] = answer
        server.stdin.close()
        assert server.wait(30) == 0
    return answers


def _initialize(version: str) -> Json:
    return {"id": "initialize", "method": "initialize", "params": {"protocolVersion": version, **CLIENT}}


def _modern(method: str, version: str = "2026-07-28") -> Json:
    about: Json = {"protocolVersion": version, "clientInfo": CLIENT["clientInfo"], "clientCapabilities": {}}
    meta = {f"io.modelcontextprotocol/{key}": value for key, value in about.items()}
    return {"id": method, "method": method, "params": {"_meta": meta}}


def _outline(answer: Json) -> object:
    """Say what kind of answer it is: the code of an error, that of a refusal, or the names of what is in it."""
    if "error" in answer:
        return answer["error"]["code"]
    result: Json = answer["result"]
    return result["structuredContent"]["code"] if result.get("isError") else sorted(result)


class Broken:
    """Answers no call: what it raises is a defect that nobody thought of."""

    async def call(self, name: str, arguments: Json, _: object = None) -> ToolResult:
        raise TypeError(f"no way\nto {name} {arguments} \ud800")


def test_a_defect_is_an_answer_with_a_code_and_one_line_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    result = asyncio.run(answer_typed(Broken(), "look", {}))
    assert (result.is_error, result.data["code"]) == (True, "INTERNAL")
    assert result.data["message"] == "look failed inside Handrail: TypeError: no way to look {} ?"
    assert capsys.readouterr().err == f"handrail mcp: {result.data['message']}\n"


def test_the_trace_of_a_defect_is_written_on_demand(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDRAIL_DEBUG", "1")
    asyncio.run(answer_typed(Broken(), "look", {}))
    assert "Traceback" in capsys.readouterr().err
