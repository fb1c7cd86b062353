"""The page docs/mcp.md is tried out as it stands: its commands, its configurations, its tables."""

import json
import os
import subprocess
import tomllib
from pathlib import Path

import pytest
from doc_commands import Shown, commands, fits
from doc_pages import blocks, tables

from handrail.serve.tools import TOOLS

PAGE = "docs/mcp.md"
IDENTITY = "[user]\n\tname = Ada\n\temail = ada@example.org\n"


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shown:
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    found = Shown(tmp_path / "shop", tmp_path / "home")
    found.root.mkdir()
    found.home.mkdir()
    (found.home / ".gitconfig").write_text(IDENTITY, "utf-8")
    return found


def test_every_command_of_the_page_prints_what_it_shows(shown: Shown) -> None:
    for block in blocks(PAGE):
        if "file" in block.notes:
            shown.write(block)
    env = {"HOME": str(shown.home), "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1"}
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "Start"]):
        subprocess.run(["git", *words], cwd=shown.root, env=env, check=True, capture_output=True)
    for block in blocks(PAGE):
        for command in commands(block) if block.language == "console" else ():
            _, printed = shown.run(command.line)
            if command.expected.strip():
                assert fits(command.expected, printed), f"{block}: $ {command.line}\n{printed}"


def test_every_configuration_starts_the_server() -> None:
    found = {block.notes["config"]: block for block in blocks(PAGE) if "config" in block.notes}
    read = {name: (tomllib if block.language == "toml" else json).loads(block.text) for name, block in found.items()}
    servers = {
        "claude": read["claude"]["mcpServers"],
        "codex": read["codex"]["mcp_servers"],
        "opencode": read["opencode"]["mcp"],
        "vscode": read["vscode"]["servers"],
    }
    assert read.keys() == servers.keys()
    for name, server in servers.items():
        one = server["handrail"]
        words = one["command"] if isinstance(one["command"], list) else [one["command"], *one["args"]]
        assert words == ["handrail", "mcp"], name


def test_every_tool_that_agents_are_offered_is_on_the_page() -> None:
    (table,) = [table for table in tables(PAGE) if table.notes.get("keys") == "tools"]
    assert table.firsts == [tool.name for tool in TOOLS]
