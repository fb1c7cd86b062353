"""Google's Gemini API, as the Gemini CLI uses it."""

import json
from collections.abc import Iterable
from typing import Any, cast

from handrail.model.workflow.values import JsonValue
from handrail.testing.models.scripts import Action, Call, Data, Fail, Mcp, Say, Shell, Structured

INPUT, OUTPUT = 1000, 100
"""The token counts of every answer."""
_STATES = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 429: "RESOURCE_EXHAUSTED"}


class Gemini:
    """The dialect of `:streamGenerateContent`."""

    def turns(self, request: Data) -> list[tuple[str, str]]:
        """Return the conversation."""
        contents = cast("list[dict[str, Any]]", request.get("contents", []))
        return [("model" if each.get("role") == "model" else "person", _text(each)) for each in contents]

    def results(self, request: Data) -> list[str]:
        """Return the results of tools."""
        contents = cast("list[dict[str, Any]]", request.get("contents", []))
        parts = [part for each in contents for part in cast("list[Data]", each.get("parts") or [])]
        return [json.dumps(part["functionResponse"]) for part in parts if "functionResponse" in part]

    def events(self, request: Data, action: Action) -> Iterable[bytes]:
        """Generate the stream of an answer: its content, then the end."""
        told = {"modelVersion": "scripted", "responseId": f"answer_{len(self.turns(request))}"}
        yield _event({**told, "candidates": [{"index": 0, "content": {"role": "model", "parts": [_part(action)]}}]})
        over = {"index": 0, "content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP"}
        usage = {"promptTokenCount": INPUT, "candidatesTokenCount": OUTPUT, "totalTokenCount": INPUT + OUTPUT}
        yield _event({**told, "candidates": [over], "usageMetadata": usage})

    def refusal(self, fail: Fail) -> Data:
        """Return the body of a refused request."""
        state = _STATES.get(fail.status, "INTERNAL")
        return {"error": {"code": fail.status, "message": fail.message, "status": state}}


def _part(action: Action) -> Data:
    match action:
        case Shell(command):
            return _call("run_shell_command", {"command": command, "description": "a scripted command"})
        case Call(tool, given):
            return _call(tool, given)
        case Mcp():
            return _call(f"mcp_{action.server}_{action.tool}", action.input)
        case Structured(value):
            return {"text": json.dumps(value)}
        case _:
            return {"text": action.text if isinstance(action, Say) else ""}


def _call(name: str, given: Data) -> Data:
    return {"functionCall": {"name": name, "args": given}}


def _event(data: Data | dict[str, Any]) -> bytes:
    return f"data: {json.dumps(data)}\r\n\r\n".encode()


def _text(content: dict[str, Any]) -> str:
    parts = cast("list[dict[str, JsonValue]]", content.get("parts") or [])
    return "\n".join(str(each["text"]) for each in parts if "text" in each)
