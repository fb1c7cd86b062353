"""The lean import of the SDK: it saves what a server over stdio never uses, and nobody can tell by the answers."""

import json
import subprocess
import sys
from typing import Any

import pytest

from support.pull.room import HANDRAIL, Pull

Json = dict[str, Any]

LOADED = """
import json, sys
from handrail.serve.mcp import fast_sdk_import as lean
lean.load_sdk()
import handrail.serve.mcp.server
print(json.dumps(sorted(sys.modules)))
"""
AFTERWARDS = """
from handrail.serve.mcp import fast_sdk_import as lean
lean.load_sdk()
import gc, mcp, mcp_types, pydantic, uvicorn
class Own(pydantic.BaseModel):
    name: str
assert Own.__pydantic_complete__ and pydantic.TypeAdapter(list[Own]).pydantic_complete
assert not mcp_types.CreateMessageRequest.__pydantic_complete__
assert not mcp_types.server_result_adapter.pydantic_complete
assert mcp_types.CreateMessageRequest.model_json_schema() and mcp_types.server_result_adapter.json_schema()
assert gc.isenabled() and not hasattr(mcp, "__nothing__")
from mcp import ClientSession
from mcp.server import MCPServer
import mcp.client.session, mcp.server.mcpserver
assert ClientSession is mcp.client.session.ClientSession and MCPServer is mcp.server.mcpserver.MCPServer
assert type(mcp) is type(gc) and not hasattr(mcp, "nothing")
print(ClientSession.__module__, MCPServer.__module__)
"""
OTHER = """
from handrail.serve.mcp import fast_sdk_import as lean
lean.{name} = {value}
lean.load_sdk()
import handrail.serve.mcp.server, pydantic
assert handrail.serve.mcp.server.server_of(None).create_initialization_options()
assert "defer_build" not in pydantic.BaseModel.model_config
print(handrail.serve.mcp.server.server_of(None).name)
"""
WHOLE = """
import sys
from handrail.cli.main import main
from handrail.serve.mcp import fast_sdk_import as lean
lean._MODULES = ("mcp.types", "mcp.server.moved")
sys.argv = ["handrail", "mcp"]
main()
"""
CLIENT: Json = {"capabilities": {}, "clientInfo": {"name": "tester", "version": "1"}}
GREETED: list[Json] = [
    {"id": "early", "method": "ping"},
    {"id": 1, "method": "initialize", "params": {"protocolVersion": 7}},
    {"id": 2, "method": "initialize", "params": {"protocolVersion": "2025-06-18", **CLIENT}},
    {"method": "notifications/initialized"},
    {"id": 3, "method": "ping"},
    {"id": 4, "method": "tools/list"},
    {"id": 5, "method": "tools/call", "params": {"name": "list_workflows", "arguments": {}}},
    {"id": 6, "method": "tools/call", "params": {"arguments": {}}},
    {"id": 7, "method": "tools/call", "params": {"name": "nothing"}},
    {"id": 8, "method": "resources/list"},
    {"id": 9, "method": "no/such/method"},
    {"method": "notifications/cancelled", "params": {"requestId": 99}},
    {"neither": "a request nor an answer"},
    {"id": 10, "method": "ping"},
]


def test_neither_a_client_nor_a_web_server_is_loaded_to_serve_stdin() -> None:
    loaded = set(json.loads(_run(LOADED)))
    assert "mcp.server.lowlevel.server" in loaded
    assert not loaded & {"mcp.client", "mcp.server.mcpserver", "uvicorn", "httpx2", "jsonschema"}


def test_afterwards_packages_are_whole_and_models_are_built_as_ever() -> None:
    assert _run(AFTERWARDS).split() == ["mcp.client.session", "mcp.server.mcpserver.server"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("_PACKAGES", ("mcp", "mcp.moved"), id="a package that moved"),
        pytest.param("_MODULES", ("mcp.types", "mcp.server.moved"), id="a module that moved"),
        pytest.param("_DEFERS", "_renamed", id="adapters that cannot be deferred"),
    ],
)
def test_another_release_of_the_sdk_is_imported_as_it_stands(name: str, value: object) -> None:
    assert _run(OTHER.format(name=name, value=repr(value))) == "handrail\n"


@pytest.mark.parametrize("era", ["2025-06-18", "2026-07-28"])
def test_the_lean_and_the_whole_sdk_give_the_same_answers(pull: Pull, era: str) -> None:
    messages = GREETED if era < "2026" else [_modern(method, era) for method in ("server/discover", "tools/list")]
    lean, whole = _answers([HANDRAIL, "mcp"], messages, pull), _answers([sys.executable, "-c", WHOLE], messages, pull)
    assert lean == whole
    assert len(lean) == sum("id" in message for message in messages)
    assert sum("tools" in answer.get("result", {}) for answer in lean) == 1


def _run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _answers(argv: list[str], messages: list[Json], pull: Pull) -> list[Json]:
    with subprocess.Popen(
        argv, cwd=pull.workspace, env=pull.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin
        assert server.stdout
        answers: list[Json] = []
        for message in messages:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            server.stdin.flush()
            if "id" in message:
                answers.append(json.loads(server.stdout.readline()))
        server.stdin.close()
        assert server.wait(60) == 0
    return answers


def _modern(method: str, version: str) -> Json:
    about: Json = {"protocolVersion": version, "clientInfo": CLIENT["clientInfo"], "clientCapabilities": {}}
    meta = {f"io.modelcontextprotocol/{key}": value for key, value in about.items()}
    return {"id": method, "method": method, "params": {"_meta": meta}}
