"""The page docs/mcp.md is tried out as it stands: its commands, its configurations, its tables."""

import json
import tomllib

from handrail.serve.mcp.resource_catalog import RUNS, TEMPLATES
from handrail.serve.mcp.tools import TOOLS
from support.docs.commands import Shown
from support.docs.pages import blocks, tables
from support.docs.repository import begin, shown, untrue

__all__ = ["shown"]
PAGE = "docs/mcp.md"


def test_every_command_of_the_page_prints_what_it_shows(shown: Shown) -> None:
    begin(shown, PAGE)
    assert untrue(shown, PAGE) == []


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


def test_every_resource_that_agents_are_offered_is_on_the_page() -> None:
    (table,) = [table for table in tables(PAGE) if table.notes.get("keys") == "resources"]
    assert table.firsts == [RUNS, *(each.uri for each in TEMPLATES)]
