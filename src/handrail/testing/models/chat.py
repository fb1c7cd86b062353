"""OpenAI's chat completions API, as opencode and many others use it."""

import json
from collections.abc import Iterable
from typing import Any, cast

from handrail.model.workflow.values import JsonValue
from handrail.testing.models.scripts import Action, Call, Data, Fail, Mcp, Say, Shell, Structured

INPUT, OUTPUT = 1000, 100
"""The token counts of every answer."""


class Chat:
    """The dialect of `/v1/chat/completions`."""

    def turns(self, request: Data) -> list[tuple[str, str]]:
        """Return the conversation."""
        messages = cast("list[dict[str, Any]]", request.get("messages", []))
        return [("model" if each["role"] == "assistant" else "person", _text(each.get("content"))) for each in messages]

    def results(self, request: Data) -> list[str]:
        """Return the results of tools."""
        messages = cast("list[dict[str, Any]]", request.get("messages", []))
        return [_text(each.get("content")) for each in messages if each["role"] == "tool"]

    def events(self, request: Data, action: Action) -> Iterable[bytes]:
        """Generate the stream of an answer."""
        turn = len(cast("list[JsonValue]", request.get("messages", [])))
        base: Data = {
            "id": f"chat_{turn}",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": request.get("model"),
        }
        delta, reason = _delta(action, turn)
        yield _event({**base, "choices": [{"index": 0, "delta": {"role": "assistant"}, "finish_reason": None}]})
        yield _event({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        yield _event({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        usage = {"prompt_tokens": INPUT, "completion_tokens": OUTPUT, "total_tokens": INPUT + OUTPUT}
        yield _event({**base, "choices": [], "usage": usage})
        yield b"data: [DONE]\n\n"

    def refusal(self, fail: Fail) -> Data:
        """Return the body of a refused request."""
        return {"error": {"message": fail.message, "type": "error", "code": fail.status}}


def _delta(action: Action, turn: int) -> tuple[Data, str]:
    match action:
        case Shell(command):
            return _call("bash", {"command": command, "description": "a scripted command"}, turn)
        case Call(tool, given):
            return _call(tool, given, turn)
        case Mcp():
            return _call(f"{action.server}_{action.tool}", action.input, turn)
        case Structured(value):
            return {"content": json.dumps(value)}, "stop"
        case _:
            return {"content": action.text if isinstance(action, Say) else ""}, "stop"


def _call(name: str, given: Data, turn: int) -> tuple[Data, str]:
    function: Data = {"name": name, "arguments": json.dumps(given)}
    return {"tool_calls": [{"index": 0, "id": f"call_{turn}", "type": "function", "function": function}]}, "tool_calls"


def _event(data: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()


def _text(content: JsonValue) -> str:
    if isinstance(content, str):
        return content
    blocks = cast("list[dict[str, Any]]", content or [])
    return "\n".join(str(each.get("text", "")) for each in blocks if each.get("type") == "text")
