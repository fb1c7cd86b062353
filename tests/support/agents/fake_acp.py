"""An agent of the Agent Client Protocol for tests: what it does stands in the prompt, a word for each deed."""

import json
import os
import sys
from pathlib import Path
from typing import Any

COUNT = 100


def tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def send(**message: Any) -> None:
    tell(json.dumps({"jsonrpc": "2.0", **message}))


def receive() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def update(session: str, **what: Any) -> None:
    send(method="session/update", params={"sessionId": session, "update": what})


def say(session: str, text: str) -> None:
    update(session, sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})


def permitted(session: str, kind: str, path: str) -> bool:
    """Announce a tool, and ask for it by its id alone."""
    where = [{"path": path}] if path else []
    update(
        session, sessionUpdate="tool_call", toolCallId="t1", title=f"{kind} {path}".strip(), kind=kind, locations=where
    )
    kinds = ("allow_always", "allow_once", "reject_once")
    options = [{"optionId": f"o-{each}", "name": each, "kind": each} for each in kinds]
    send(
        id=COUNT,
        method="session/request_permission",
        params={"sessionId": session, "toolCall": {"toolCallId": "t1"}, "options": options},
    )
    said = receive()
    while said.get("id") != COUNT:
        said = receive()
    return said["result"]["outcome"].get("optionId") == "o-allow_once"


def deed(session: str, word: str) -> str | None:
    """Do one thing; gives why it stops."""
    name, _, given = word.partition(":")
    match name:
        case "say":
            say(session, given)
        case "edit" | "execute" | "switch_mode" | "read":
            use(session, name, given)
        case "cost":
            cost = {"amount": float(given), "currency": "USD"}
            update(session, sessionUpdate="usage_update", used=1, size=9, cost=cost)
        case "files":
            send(id=COUNT, method="fs/read_text_file", params={"sessionId": session, "path": "/etc/passwd"})
            say(session, str(receive()["error"]["code"]))
        case "wait":
            return wait()
        case "stop":
            return given
        case _:
            os._exit(3)
    return None


def use(session: str, kind: str, path: str) -> None:
    if permitted(session, kind, path) and kind in ("edit", "execute"):
        Path(path or "ran").write_text("by the agent")


def wait() -> str:
    Path("waiting").touch()
    while receive().get("method") != "session/cancel":
        pass
    return "cancelled"


def prompted(number: int, session: str, words: list[str]) -> None:
    if words[0].startswith("fail"):
        code = int(words[0].partition(":")[2])
        send(id=number, error={"code": code, "message": "it went wrong", "data": {"details": "a reason"}})
        return
    reason = next((why for word in words if (why := deed(session, word))), "end_turn")
    send(
        id=number, result={"stopReason": reason, "usage": {"inputTokens": 7, "outputTokens": 3, "cachedReadTokens": 2}}
    )


def main() -> None:
    tell("a greeting that is no JSON")
    while True:
        said = receive()
        number, params = said.get("id"), said.get("params", {})
        match said.get("method"):
            case "initialize":
                assert params["clientCapabilities"]["fs"] == {"readTextFile": False, "writeTextFile": False}
                send(id=number, result={"protocolVersion": 1, "agentCapabilities": {"loadSession": "load" in sys.argv}})
            case "session/new" if "locked" in sys.argv:
                send(id=number, error={"code": -32000, "message": "Authentication required"})
            case "session/new":
                send(id=number, result={"sessionId": "acp-1"})
            case "session/load":
                say(params["sessionId"], "what was said before")
                send(id=number, result={})
            case "session/prompt":
                prompted(said["id"], params["sessionId"], params["prompt"][0]["text"].split())
            case _:
                pass


if __name__ == "__main__":
    main()
