"""Reads the JSON lines of the scripted agent's process, and how the call ended."""

import json
import math
import signal
from typing import cast, get_args

from handrail.model.values import JsonValue
from handrail.ports.agents import AgentOutcome, OutcomeStatus, Usage
from handrail.ports.processes import Ended, Gone

_STATUSES = frozenset(get_args(OutcomeStatus))
Line = dict[str, JsonValue]


class ScriptedLines:
    """The reader of one call; lines that are none of the protocol are passed over."""

    def __init__(self) -> None:
        self._session: str | None = None
        self._trouble = ""
        self._result: Line | None = None

    def feed(self, line: bytes) -> str:
        """Take one line; give what to show of it on the screen, or nothing."""
        said = _read(line)
        match said.get("type"):
            case "session":
                self._session = _text(said, "session") or None
            case "text":
                return _text(said, "text")
            case "tool":
                return _tool(said)
            case "error":
                self._trouble = _text(said, "message")
            case "result" if _text(said, "status") in _STATUSES:
                self._result = said
            case _:
                pass
        return ""

    def outcome(self, ended: Ended | Gone) -> AgentOutcome:
        """Say how the call ended, from the lines first and from the exit status then."""
        result = self._result
        if result is None:
            return AgentOutcome(status="crashed", session=self._session, message=self._trouble or _end(ended))
        return AgentOutcome(
            status=cast("OutcomeStatus", result["status"]),
            text=_text(result, "text"),
            output=result.get("output"),
            has_output="output" in result,
            session=_text(result, "session") or self._session,
            usage=_usage(result.get("usage")),
            cost=_number(result.get("cost")),
            message=_text(result, "message"),
            retry_after=_number(result.get("retry_after")),
            question=_text(result, "question"),
        )


def _read(line: bytes) -> Line:
    """Give a line of the protocol; an empty one for what is none."""
    try:
        said = json.loads(line.decode(), parse_constant=_refuse, parse_float=_finite)
        if rb"\u" in line:
            json.dumps(said, ensure_ascii=False).encode()  # fails on half of a character, which nothing can store
    except (ValueError, RecursionError):
        return {}
    return cast("Line", said) if isinstance(said, dict) else {}


def _refuse(word: str) -> float:
    raise ValueError(word)


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)


def _text(said: Line, name: str) -> str:
    value = said.get(name)
    return value if isinstance(value, str) else ""


def _number(value: JsonValue) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _usage(value: JsonValue) -> Usage:
    given = value if isinstance(value, dict) else {}
    return Usage(*(_count(given.get(name)) for name in ("input_tokens", "output_tokens", "cached_tokens")))


def _count(value: JsonValue) -> int:
    return max(0, value) if isinstance(value, int) else 0


def _tool(said: Line) -> str:
    """A tool with what it was called with, and how a command that failed ended."""
    given = said.get("input")
    values = given.values() if isinstance(given, dict) else ()
    words = [str(each) for each in values if isinstance(each, str | int | float)]
    shown = " ".join([f"{_text(said, 'name')}:", *words]) if words else _text(said, "name")
    code = said.get("exit_code")
    if not isinstance(code, int) or code == 0:
        return shown
    return "\n".join([f"{shown} (exit code {code})", *_text(said, "output").splitlines()])


def _end(ended: Ended | Gone) -> str:
    match ended:
        case Gone():
            return "the agent was ended from outside before it gave a result"
        case Ended(reason=str(reason)):
            return reason
        case Ended(exit_code=None, signal=int(number)):
            return f"the agent was ended by {_signal(number)} before it gave a result"
        case Ended():
            return f"the agent ended with exit code {ended.code} and gave no result"


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
