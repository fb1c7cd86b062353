"""A client of a real `handrail mcp` process, made with the official SDK."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.session import ElicitationFnT, MessageHandlerFnT
from mcp.client.stdio import stdio_client
from mcp.types import Implementation

from support.pull.room import HANDRAIL, NOTES, Pull, Said, advancing, token_of


@dataclass(slots=True)
class Client:
    """A client of a server that is a process of its own."""

    session: ClientSession
    pid_file: Path

    @property
    def pid(self) -> int:
        """The process of the server."""
        return int(self.pid_file.read_text("utf-8"))

    async def call(self, name: str, **arguments: Any) -> Said:
        """Call a tool."""
        result = await self.session.call_tool(name, arguments)
        texts = tuple(str(getattr(item, "text", "")) for item in result.content)
        return Said(texts, dict(result.structured_content or {}), bool(result.is_error))

    async def start(self, workflow: str, workspace: Path, goal: str = "Make it better.") -> Said:
        """Start a workflow."""
        return await self.call("start_workflow", workflowId=workflow, workspacePath=str(workspace), goal=goal)

    async def advance(self, at: Said | str, notes: str = NOTES, **keys: Any) -> Said:
        """Complete the step of an answer or a token."""
        return await self.call("continue_workflow", **advancing(token_of(at), notes, **keys))


@asynccontextmanager
async def mcp_client(
    pull: Pull, heard: MessageHandlerFnT | None = None, asked: ElicitationFnT | None = None, **environ: str
) -> AsyncGenerator[Client]:
    """Start `handrail mcp` and talk to it with the official client.

    `heard` gets what the server tells by itself, `asked` is the person at the client, who answers forms.
    """
    pid_file = pull.folder / f"server-{os.urandom(4).hex()}.pid"
    words = ["-c", f'echo $$ > "{pid_file}"; exec "{HANDRAIL}" mcp']
    server = StdioServerParameters(command="/bin/sh", args=words, env={**pull.environ, **environ}, cwd=pull.workspace)
    about = Implementation(name="tester", version="1")
    session_of = partial(ClientSession, message_handler=heard, elicitation_callback=asked, client_info=about)
    async with stdio_client(server) as (reading, writing), session_of(reading, writing) as session:
        await session.initialize()
        yield Client(session, pid_file)
