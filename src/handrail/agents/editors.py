"""Editors that can be connected to Handrail, and that it does not start itself."""

from handrail.ports.agent_profiles import ConnectedClient, UserPath

EDITORS: tuple[ConnectedClient, ...] = (
    ConnectedClient(
        name="cursor",
        title="Cursor",
        table="mcpServers",
        user=UserPath((".cursor/mcp.json",)),
        project=".cursor/mcp.json",
        more={},
    ),
    ConnectedClient(
        name="vscode",
        title="VS Code",
        table="servers",
        user=UserPath((".config/Code/User/mcp.json", "Library/Application Support/Code/User/mcp.json")),
        project=".vscode/mcp.json",
        more={"type": "stdio"},
    ),
)
"""A new one is an entry here."""
