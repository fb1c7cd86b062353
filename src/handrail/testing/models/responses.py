"""OpenAI's Responses API, as Codex uses it."""

import json
from collections.abc import Iterable
from typing import Any, cast

from handrail.model.workflow.values import JsonValue
from handrail.testing.models.scripts import Action, Call, Data, Fail, Mcp, Say, Shell, Structured

INPUT, OUTPUT = 1000, 100
"""The token counts of every answer."""
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")

TIMEOUT = 30_000
"""Milliseconds after which Codex continues while one of its commands is still running."""


class Responses:
    """The dialect of `/v1/responses`."""

    def turns(self, request: Data) -> list[tuple[str, str]]:
        """Return the conversation: texts and calls of the model, and the messages to it."""
        turns: list[tuple[str, str]] = []
        for item in cast("list[dict[str, Any]]", request.get("input", [])):
            if item.get("type") in _CALLS:
                turns.append(("model", ""))
            elif item.get("type", "message") == "message":
                turns.append(("model" if item["role"] == "assistant" else "person", _text(item["content"])))
        return turns

    def results(self, request: Data) -> list[str]:
        """Return the results of tools."""
        items = cast("list[dict[str, Any]]", request.get("input", []))
        return [_text(each.get("output")) for each in items if str(each.get("type", "")).endswith("_call_output")]

    def events(self, request: Data, action: Action) -> Iterable[bytes]:
        """Generate the stream of an answer."""
        response = {"id": "resp_1", "object": "response", "model": request.get("model"), "output": []}
        yield _event("response.created", {"response": {**response, "status": "in_progress"}})
        item = _item(action)
        yield _event("response.output_item.added", {"output_index": 0, "item": item})
        yield _event("response.output_item.done", {"output_index": 0, "item": item})
        usage = {
            "input_tokens": INPUT,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": OUTPUT,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": INPUT + OUTPUT,
        }
        done = {**response, "status": "completed", "output": [item], "usage": usage}
        yield _event("response.completed", {"response": done})

    def refusal(self, fail: Fail) -> Data:
        """Return the body of a refused request."""
        return {"error": {"message": fail.message, "type": "error", "code": str(fail.status)}}


def _item(action: Action) -> Data:
    match action:
        case Shell(command):
            return _call("exec_command", {"cmd": command, "yield_time_ms": TIMEOUT})
        case Call(tool, given):
            return _call(tool, given)
        case Mcp():
            return {**_call(action.tool, action.input), "namespace": f"mcp__{action.server}"}
        case Structured(value):
            return _message(json.dumps(value))
        case _:
            return _message(action.text if isinstance(action, Say) else "")


def _message(text: str) -> Data:
    content: JsonValue = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}


def _call(name: str, given: Data) -> Data:
    text = json.dumps(given)
    call = f"call_{abs(hash(text)):x}"
    return {"type": "function_call", "id": f"fc_{call}", "call_id": call, "name": name, "arguments": text}


def _event(kind: str, data: dict[str, Any]) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()


def _text(content: JsonValue) -> str:
    if isinstance(content, str):
        return content
    blocks = cast("list[dict[str, Any]]", content or [])
    return "\n".join(str(each.get("text", "")) for each in blocks)
