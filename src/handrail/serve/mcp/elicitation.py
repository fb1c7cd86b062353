"""Asks the person at a client what a run waits for, if the client can show a form (MCP elicitation).

The answer comes from the person at the client's window and not from its model, so it counts as the person's. A server
asks each question once: whoever closes the form answers later with `handrail approve`.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp.types import RequestId

from handrail.frozen import frozen
from handrail.serve.mcp.tool_result import Question, ToolResult

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "decision": {"type": "string", "enum": ["approve", "revise", "reject"], "title": "Your decision"},
        "feedback": {"type": "string", "title": "What to change, or why not"},
    },
    "required": ["decision"],
}


@frozen
class PersonAnswer:
    """What a person answered in a client's window."""

    question: Question
    decision: str
    feedback: str
    client: str
    """The name of the client that asked."""


@runtime_checkable
class AnswerReceiver(Protocol):
    """Accepts the answers of people."""

    async def decide(self, answer: PersonAnswer) -> ToolResult:
        """Pass the answer to the run, and return its state after it."""
        ...


@dataclass(slots=True)
class Elicitation:
    """Asks each question once."""

    asked: set[Question] = field(default_factory=set[Question])

    async def ask(self, session: ServerSession, request: RequestId | None, question: Question) -> PersonAnswer | None:
        """Ask the person at a client; None if nobody can be asked, or nobody answers."""
        if question in self.asked or not _can_ask(session):
            return None
        self.asked.add(question)
        # If a client fails here, no person was asked: the run keeps waiting.
        with suppress(MCPError, ValueError):
            reply = await session.elicit_form(question.message, _SCHEMA, request)
            content = reply.content or {}
            decision, feedback = str(content.get("decision") or ""), str(content.get("feedback") or "")
            if reply.action == "accept" and decision:
                known = session.client_params
                return PersonAnswer(
                    question, decision, feedback, "a client" if known is None else known.client_info.name
                )
        return None


def _can_ask(session: ServerSession) -> bool:
    found = session.client_capabilities
    if found is None or found.elicitation is None or not session.can_send_request:
        return False
    # A client of an older version says nothing about modes, and has forms.
    return found.elicitation.form is not None or found.elicitation.url is None
