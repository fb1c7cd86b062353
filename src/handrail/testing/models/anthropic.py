"""Anthropic's Messages API, as Claude Code uses it."""

import json
from collections.abc import Iterable
from typing import Any, cast

from handrail.model.workflow.values import JsonValue
from handrail.testing.models.scripts import Action, Call, Data, Fail, Mcp, Say, Shell, Structured

INPUT, OUTPUT = 1000, 100
"""The token counts of every answer."""


class Anthropic:
    """The dialect of `/v1/messages`."""

    def turns(self, request: Data) -> list[tuple[str, str]]:
        """Return the conversation."""
        messages = cast("list[dict[str, Any]]", request.get("messages", []))
        return [("model" if each["role"] == "assistant" else "person", _text(each["content"])) for each in messages]

    def results(self, request: Data) -> list[str]:
        """Return the results of tools."""
        messages = cast("list[dict[str, Any]]", request.get("messages", []))
        contents = [each["content"] for each in messages if not isinstance(each["content"], str)]
        blocks = [each for content in contents for each in cast("list[dict[str, Any]]", content)]
        return [_text(each.get("content")) for each in blocks if each.get("type") == "tool_result"]

    def events(self, request: Data, action: Action) -> Iterable[bytes]:
        """Generate the stream of an answer."""
        usage = {"input_tokens": INPUT, "output_tokens": 1}
        # Claude Code treats two answers with the same id as one, and so would never get to the third.
        turn = len(cast("list[JsonValue]", request.get("messages", [])))
        message = {
            "id": f"msg_{turn}",
            "type": "message",
            "role": "assistant",
            "model": request.get("model"),
            "content": [],
        }
        yield _event("message_start", {"message": {**message, "stop_reason": None, "usage": usage}})
        block, delta, reason = _block(action, turn)
        yield _event("content_block_start", {"index": 0, "content_block": block})
        yield _event("content_block_delta", {"index": 0, "delta": delta})
        yield _event("content_block_stop", {"index": 0})
        ending = {"stop_reason": reason, "stop_sequence": None}
        yield _event("message_delta", {"delta": ending, "usage": {"output_tokens": OUTPUT}})
        yield _event("message_stop", {})

    def refusal(self, fail: Fail) -> Data:
        """Return the body of a refused request."""
        kinds = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error", 529: "overloaded_error"}
        kind = kinds.get(fail.status, "api_error" if fail.status >= 500 else "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": fail.message}}


def _block(action: Action, turn: int) -> tuple[Data, Data, str]:
    match action:
        case Shell(command):
            return _tool("Bash", {"command": command, "description": "a scripted command"}, turn)
        case Call(tool, given):
            return _tool(tool, given, turn)
        case Mcp():
            return _tool(f"mcp__{action.server}__{action.tool}", action.input, turn)
        case Structured(value):
            return _tool("StructuredOutput", cast("Data", value), turn)
        case _:
            text = action.text if isinstance(action, Say) else ""
            return {"type": "text", "text": ""}, {"type": "text_delta", "text": text}, "end_turn"


def _tool(name: str, given: Data, turn: int) -> tuple[Data, Data, str]:
    block: Data = {"type": "tool_use", "id": f"toolu_{turn}", "name": name, "input": {}}
    return block, {"type": "input_json_delta", "partial_json": json.dumps(given)}, "tool_use"


def _event(kind: str, data: dict[str, Any]) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()


def _text(content: JsonValue) -> str:
    if isinstance(content, str):
        return content
    blocks = cast("list[dict[str, Any]]", content or [])
    return "\n".join(str(each.get("text", "")) for each in blocks if each.get("type") == "text")
