"""Offers the tools over the Model Context Protocol, with the official SDK: over stdin and stdout."""

import logging
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.session import ServerSession
from mcp.server.stdio import stdio_server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    EmptyResult,
    ListToolsResult,
    LoggingLevel,
    LoggingMessageNotification,
    LoggingMessageNotificationParams,
    PaginatedRequestParams,
    SetLevelRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp.types import Tool as OfferedTool

from handrail import __version__
from handrail.late_import import late_import
from handrail.serve.mcp.elicitation import AnswerReceiver, Elicitation, PersonAnswer
from handrail.serve.mcp.lazy_calls import AnyToolCalls, LazyCalls, Report, ToolCalls, report_nothing
from handrail.serve.mcp.resource_handlers import ListChangeNotifier, OpenCatalog, ResourceHandlers
from handrail.serve.mcp.tool_result import ToolResult
from handrail.serve.mcp.tools import TOOLS, Tool

if TYPE_CHECKING:
    from handrail.serve.mcp import answer_text
else:
    answer_text = late_import("handrail.serve.mcp.answer_text")

INSTRUCTIONS = (
    "Handrail guides you through workflows step by step and records every step. Start with start_workflow, or find an"
    " earlier run with resume_session. Do what the pending step says, then call continue_workflow with the token of the"
    " last answer. Never make up a token; if you lost it, call resume_session."
)

DEFECT = "INTERNAL"
_BELOW_ERROR: tuple[LoggingLevel, ...] = ("debug", "info", "notice", "warning", "error")
_DEFECT = (
    "this is a bug in Handrail, and no run is lost: tell your user, who can restart the server with"
    " HANDRAIL_DEBUG=1 to see more on its standard error"
)
AGENT_INSTRUCTIONS = (
    "These tools belong to the step of the workflow that you are working on. Use them only where the step or its"
    " situation calls for it; they do not replace your answer."
)


def _do_nothing() -> None:
    pass


def server_of(
    calls: ToolCalls,
    tools: tuple[Tool, ...] = TOOLS,
    listing: Callable[[], object] = _do_nothing,
    catalog: ResourceHandlers | None = None,
) -> "Server[dict[str, object]]":
    """Build a server that answers with these calls, and with a catalog if there is one.

    `listing` is called when a client asks for the tools.
    """
    levels: list[LoggingLevel] = []

    async def list_tools(
        _: "ServerRequestContext[dict[str, object]]", __: PaginatedRequestParams | None
    ) -> ListToolsResult:
        listing()
        return ListToolsResult(tools=[_convert_tool(tool) for tool in tools])

    elicitation = Elicitation()

    async def call_tool(
        context: "ServerRequestContext[dict[str, object]]", params: CallToolRequestParams
    ) -> CallToolResult:
        async def report(seconds: float, words: str) -> None:
            await context.session.report_progress(seconds, message=words)

        result = await answer_typed(calls, params.name, params.arguments or {}, report)
        if result.question is not None and isinstance(calls, AnswerReceiver):
            said = await elicitation.ask(context.session, context.request_id, result.question)
            result = result if said is None else await decide_typed(calls, said)
        if levels and result.data.get("code") == DEFECT:
            await _log(context.session, levels[-1], result)
        content = [TextContent(text=text) for text in result.texts]
        return CallToolResult(content=[*content], structured_content=result.data, is_error=result.is_error)

    async def set_level(_: "ServerRequestContext[dict[str, object]]", params: SetLevelRequestParams) -> EmptyResult:
        levels[:] = [params.level]
        return EmptyResult()

    server = Server(
        "handrail",
        version=__version__,
        instructions=INSTRUCTIONS if tools is TOOLS else AGENT_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    if catalog is not None:
        catalog.add_to(server)
        server.add_request_handler("logging/setLevel", SetLevelRequestParams, set_level)
    return server


async def _log(session: ServerSession, level: LoggingLevel, result: ToolResult) -> None:
    """Send a defect of Handrail to a client that wants to see errors."""
    if level in _BELOW_ERROR:
        params = LoggingMessageNotificationParams(level="error", logger="handrail", data=result.data["message"])
        await session.send_notification(LoggingMessageNotification(params=params))


async def answer_typed(
    calls: ToolCalls, name: str, arguments: dict[str, Any], report: Report = report_nothing
) -> ToolResult:
    """Answer a call whatever happens: a defect of Handrail is an answer too, and one line on standard error."""
    try:
        return await calls.call(name, arguments, report)
    except Exception as error:  # noqa: BLE001 - the client waits for an answer, whatever went wrong
        return _defect(name, error)


async def decide_typed(calls: AnswerReceiver, said: PersonAnswer) -> ToolResult:
    """Accept a person's answer whatever happens."""
    try:
        return await calls.decide(said)
    except Exception as error:  # noqa: BLE001 - the client waits for an answer, whatever went wrong
        return _defect("the answer of a person", error)


def _defect(name: str, error: Exception) -> ToolResult:
    message = " ".join(f"{name} failed inside Handrail: {type(error).__name__}: {error}".split())
    result = answer_text.make_sendable(answer_text.render_error(DEFECT, message, _DEFECT))
    trace = traceback.format_exception(error) if os.environ.get("HANDRAIL_DEBUG") else ()
    with suppress(OSError):
        lines = "".join((*trace, f"handrail mcp: {result.data['message']}\n"))
        sys.stderr.write(lines.encode(errors="replace").decode())
    return result


def serve_stdio(
    calls: LazyCalls[AnyToolCalls], tools: tuple[Tool, ...] = TOOLS, open_catalog: OpenCatalog | None = None
) -> None:
    """Serve one client over stdin and stdout until it disconnects."""
    logging.getLogger("mcp").setLevel(logging.WARNING)
    anyio.run(_serve, calls, tools, open_catalog)


async def _serve(calls: LazyCalls[AnyToolCalls], tools: tuple[Tool, ...], open_catalog: OpenCatalog | None) -> None:
    async with anyio.create_task_group() as group, stdio_server() as (reading, writing):
        catalog = None
        if open_catalog is not None:
            watch = ListChangeNotifier(open_catalog, begin=lambda: group.start_soon(watch.run))
            catalog = ResourceHandlers(open_catalog, watch)
        # Every client asks for the tools after the greeting: we use the time until its first call.
        server = server_of(calls, tools, listing=lambda: group.start_soon(calls.prepare), catalog=catalog)
        changes = NotificationOptions(prompts_changed=catalog is not None, resources_changed=catalog is not None)
        await server.run(reading, writing, server.create_initialization_options(changes))
        group.cancel_scope.cancel()


def _convert_tool(tool: Tool) -> OfferedTool:
    hints = ToolAnnotations(read_only_hint=tool.reads_only, destructive_hint=False, idempotent_hint=tool.repeatable)
    return OfferedTool(
        name=tool.name, title=tool.title, description=tool.description, input_schema=tool.schema, annotations=hints
    )
