"""Offers the tools over the Model Context Protocol, with the official SDK: over stdin and stdout."""

import logging
from collections.abc import Callable

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp.types import Tool as OfferedTool

from handrail import __version__
from handrail.serve.mcp.lazy_calls import Answers, LateCalls
from handrail.serve.mcp.tools import TOOLS, Tool

INSTRUCTIONS = (
    "Handrail leads you through workflows step by step and remembers every one. Start with start_workflow, or find an"
    " earlier run with resume_session. Do what the pending step says, then call continue_workflow with the token of the"
    " last answer. Never make up a token; if you lost it, call resume_session."
)


AGENT_INSTRUCTIONS = (
    "These tools belong to the step of the workflow that you are working on. Use them only where the step or its"
    " situation asks for it; they do not replace your answer."
)


def _nothing() -> None:
    pass


def server_of(
    calls: Answers, tools: tuple[Tool, ...] = TOOLS, listing: Callable[[], object] = _nothing
) -> "Server[dict[str, object]]":
    """Make a server that answers with these calls; `listing` is called when a client asks for the tools."""

    async def listed(
        _: "ServerRequestContext[dict[str, object]]", __: PaginatedRequestParams | None
    ) -> ListToolsResult:
        listing()
        return ListToolsResult(tools=[_offered(tool) for tool in tools])

    async def called(_: "ServerRequestContext[dict[str, object]]", params: CallToolRequestParams) -> CallToolResult:
        result = await calls.call(params.name, params.arguments or {})
        content = [TextContent(text=text) for text in result.texts]
        return CallToolResult(content=[*content], structured_content=result.data, is_error=result.is_error)

    return Server(
        "handrail",
        version=__version__,
        instructions=INSTRUCTIONS if tools is TOOLS else AGENT_INSTRUCTIONS,
        on_list_tools=listed,
        on_call_tool=called,
    )


def serve_stdio(calls: LateCalls, tools: tuple[Tool, ...] = TOOLS) -> None:
    """Serve one client over stdin and stdout until it goes away."""
    logging.getLogger("mcp").setLevel(logging.WARNING)
    anyio.run(_serve, calls, tools)


async def _serve(calls: LateCalls, tools: tuple[Tool, ...]) -> None:
    async with anyio.create_task_group() as group, stdio_server() as (reading, writing):
        # Every client asks for the tools once it was greeted: the time until its first call is ours.
        server = server_of(calls, tools, listing=lambda: group.start_soon(calls.prepare))
        await server.run(reading, writing, server.create_initialization_options())


def _offered(tool: Tool) -> OfferedTool:
    hints = ToolAnnotations(read_only_hint=tool.reads_only, destructive_hint=False, idempotent_hint=tool.repeatable)
    return OfferedTool(
        name=tool.name, title=tool.title, description=tool.description, input_schema=tool.schema, annotations=hints
    )
