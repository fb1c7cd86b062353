"""Answers the calls of an agent that the engine launched: checks what it sends, and passes it to the operation."""

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from handrail.engine.contracts.schema import issues
from handrail.errors import HandrailError, UsageError
from handrail.operations.step_tools.call import AgentCallHandler, ToolAnswer
from handrail.runtime.handlers.agents.step_tools import TOKEN
from handrail.serve.mcp.answer_text import make_sendable, render_error, render_fault
from handrail.serve.mcp.lazy_calls import Report, report_nothing
from handrail.serve.mcp.step_tools import AGENT_TOOLS
from handrail.serve.mcp.tool_result import ToolResult
from handrail.serve.mcp.tools import find_unwritable
from handrail.sources.tiers import Location, here
from handrail.store.signing_keys import keys_in
from handrail.wiring.system import System

_BY_NAME = {tool.name: tool for tool in AGENT_TOOLS}


@dataclass(slots=True)
class AgentCalls:
    """Answers calls of tools."""

    ctx: AgentCallHandler

    async def call(self, name: str, arguments: dict[str, Any], _: Report = report_nothing) -> ToolResult:
        """Answer one call; whatever is wrong with it is part of the answer."""
        tool = _BY_NAME.get(name)
        unreadable = find_unwritable(arguments)
        if unreadable:
            return render_error(
                "VALIDATION_ERROR", "; ".join(unreadable), f"call {name} with arguments that fit its schema"
            )
        wrong = (f"there is no tool '{name}'",) if tool is None else issues(tool.schema, arguments)
        try:
            answer = await self.ctx.call(name, arguments, "; ".join(wrong))
        except (HandrailError, OSError) as error:
            return render_fault(error)
        return make_sendable(_make_result(answer, "VALIDATION_ERROR" if wrong else "REFUSED"))


def _make_result(answer: ToolAnswer, code: str) -> ToolResult:
    """Convert an answer to a result; its data says everything too, for agents whose client shows only that."""
    if answer.good:
        return ToolResult((answer.text,), {"message": answer.text, **answer.data})
    data: dict[str, Any] = {"code": code, "message": answer.text, "retry": {"kind": "not_retryable"}}
    return ToolResult((answer.text,), {**data, **answer.data}, is_error=True)


def open_call_handler(system: System, place: Location) -> AgentCallHandler:
    """Build the call handler of the agent whose token is in the environment."""
    token = os.environ.get(TOKEN)
    if not token:
        hint = "this is started by agents whose step has `handrail_tools`; to connect your own agent: handrail mcp"
        raise UsageError(f"there is no {TOKEN} in the environment", next_step=hint)

    def find_place(folder: Path) -> Location:
        return here(folder, os.environ)

    keys = partial(keys_in, place.folders.data)
    return AgentCallHandler(system.writer, keys, token, find_place, system.machine)
