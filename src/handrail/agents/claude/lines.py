"""Reads the JSON lines of Claude Code, and how the call ended: from its last `result`, then from the exit status."""

import re
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import cast

from handrail.agents.claude.limits import is_limit_message, limit_end
from handrail.agents.claude.usage import UsageTotals
from handrail.agents.json_lines import Line, explain_no_result, number, part, read_line, skim, text
from handrail.model.workflow.values import JsonValue
from handrail.ports.agents import AgentOutcome, CallProgress, OutcomeStatus
from handrail.ports.processes import Ended, Gone

SHOWN = ("command", "file_path", "notebook_path", "path", "pattern", "query", "url", "description", "skill")
"""The most informative keys of a tool's input, the best first."""
MAX_DENIALS = 5
INTERRUPTED = "[Request interrupted by user"
STOPPED = "it was stopped while it was working"
_LOGIN = re.compile(r"not logged in|/login\b|api key|authenticat|oauth", re.IGNORECASE)
_TOO_LONG = re.compile(r"too long|\bcontext\b", re.IGNORECASE)
_STATUSES: dict[int, OutcomeStatus] = {401: "auth", 403: "auth", 402: "auth", 429: "rate_limited", 529: "overloaded"}
_ERRORS: dict[str, OutcomeStatus] = {
    "authentication_failed": "auth",
    "oauth_org_not_allowed": "auth",
    "rate_limit": "rate_limited",
    "overloaded": "overloaded",
    "invalid_request": "api_error",
    "max_output_tokens": "api_error",
    "model_not_found": "api_error",
}
"""Claude Code's names for errors without an HTTP status."""
_TOLD = re.compile(rb'\{"type": ?"user"')
_SPECIAL = (b'"isReplay":true', b'"is_error":true', b'"is_error": true', INTERRUPTED.encode())
_USED = re.compile(rb'"tool_use_id": ?"([^"\\]*)"')
_GAVE_UP = frozenset({"refusal", "max_tokens"})


class ClaudeLines:
    """The reader of one call; unknown events are ignored."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._session: str | None = None
        self._result: Line | None = None
        self._words = ""
        self._error = ""
        self._delay: float | None = None
        self._resets: float | None = None
        self._said = ""
        """When the model answered last, as the agent's timestamp."""
        self._interrupted = False
        self._heard: list[str] = []
        self._took = UsageTotals()
        self._tools: set[str] = set()
        self._model = ""

    def feed(self, line: bytes) -> str:
        """Read one line; return what to show of it on the screen, or an empty text."""
        if _is_plain(line):
            self._tools -= {each.decode(errors="replace") for each in _USED.findall(line)}
            return ""
        said = skim(line)
        match said.get("type"):
            case "system":
                self._system(said)
            case "assistant":
                return self._assistant(said)
            case "user":
                return self._user(said)
            case "rate_limit_event":
                info = part(said, "rate_limit_info")
                self._resets = number(info.get("resetsAt")) if info.get("status") == "rejected" else None
            case "result":
                self._result = (read_line(line) or None) if "structured_output" in said else said
                self._took.settle(said)
            case _:
                pass
        return ""

    def outcome(self, ended: Ended | Gone) -> AgentOutcome:
        """Return how the call ended."""
        result = self._result
        if result is None:
            return self._outcome_without_result(ended)
        status, message = self._status(result)
        unknown = status == "api_error" and _is_unknown_session(result)
        return AgentOutcome(
            status=status,
            text=text(result, "result") if status == "ok" and "result" in result else self._words,
            output=result.get("structured_output"),
            has_output="structured_output" in result,
            session=None if unknown else text(result, "session_id") or self._session,
            usage=self._took.usage,
            cost=self._took.cost,
            message=message,
            retry_after=self._retry_seconds(status, message),
            heard=tuple(self._heard),
        )

    def read_progress(self) -> CallProgress:
        """Return what the call has used at least, and whether a tool is running."""
        return CallProgress(self._took.usage, self._took.cost, self._model, at_work=bool(self._tools))

    def _system(self, said: Line) -> None:
        if said.get("subtype") == "init":
            self._session = text(said, "session_id") or self._session
        elif said.get("subtype") == "api_retry":
            delay = number(said.get("retry_delay_ms")) or 0
            # Whole seconds come from the service; Claude Code's own delays are never so round, and mean nothing.
            self._delay = delay / 1000 if delay and delay % 1000 == 0 else None

    def _assistant(self, said: Line) -> str:
        message = part(said, "message")
        words, uses = list[str](), list[Line]()
        for each in _list(message, "content"):
            match each:
                case {"type": "text"}:
                    words.append(text(each, "text"))
                case {"type": "tool_use"}:
                    uses.append(each)
                    self._tools.add(text(each, "id"))
                case _:
                    pass
        if said.get("parent_tool_use_id"):
            return ""
        self._said = text(said, "timestamp") or self._said
        spoken = "\n".join(words)
        if text(said, "error"):
            self._error = text(said, "error")
            return spoken
        self._model = text(message, "model") or self._model
        self._took.add_answer(message)
        self._words = spoken or self._words
        return "\n".join([*([spoken] if spoken else ()), *map(tool_words, uses)])

    def _user(self, said: Line) -> str:
        """Read the agent's input: messages that it received, failures of its tools, and an interruption."""
        if said.get("isReplay") is True:
            self._heard.append(text(said, "uuid"))
            # A message that it receives after its answer gets another answer.
            self._result = None
        self._tools -= {text(each, "tool_use_id") for each in blocks(said, "tool_result")}
        if any(text(each, "text").startswith(INTERRUPTED) for each in blocks(said, "text")):
            self._interrupted = True
        failed = [text(each, "content") for each in blocks(said, "tool_result") if each.get("is_error") is True]
        return "\n".join(f"failed: {each.strip().partition(chr(10))[0]}" for each in failed if each.strip())

    def _outcome_without_result(self, ended: Ended | Gone) -> AgentOutcome:
        """Return how a call without a result ended; a signal may end it with 0 and without one."""
        return AgentOutcome(
            status="cancelled" if self._interrupted else "crashed",
            text=self._words,
            session=self._session,
            usage=self._took.usage,
            message=STOPPED if self._interrupted else explain_no_result(ended),
            heard=tuple(self._heard),
        )

    def _status(self, result: Line) -> tuple[OutcomeStatus, str]:
        errors = "; ".join(each for each in _list(result, "errors") if isinstance(each, str))
        match text(result, "subtype"):
            case "success" if result.get("is_error") is not True:
                return "ok", _denials(result)
            case "success":
                return self._api_error(result), text(result, "result") or _wordless(result)
            case "error_max_turns":
                # A limit is only set for a single turn: then the answer of that turn is the result.
                single = errors.endswith("(1)")
                return ("ok", _denials(result)) if single else ("limit", errors or "it reached its limit of turns")
            case "error_max_budget_usd":
                return "limit", errors or "it reached its spending limit"
            case _ if text(result, "terminal_reason").startswith("aborted"):
                return "cancelled", STOPPED
            case _ if _is_unknown_session(result):
                return "api_error", f"{errors}: Claude Code has no such conversation here; start a new one"
            case subtype:
                return "api_error", errors or f"Claude Code ended with {subtype or 'no reason'}"

    def _api_error(self, result: Line) -> OutcomeStatus:
        words, code = text(result, "result"), number(result.get("api_error_status"))
        if self._resets is not None or is_limit_message(words):
            return "quota"
        if self._error == "billing_error" or "credit balance" in words.lower():
            return "auth"
        if code is not None:
            return _STATUSES.get(int(code), "api_error")
        if self._error in _ERRORS:
            return _ERRORS[self._error]
        if text(result, "stop_reason") in _GAVE_UP or _TOO_LONG.search(words):
            return "api_error"
        return "auth" if _LOGIN.search(words) else "network"

    def _retry_seconds(self, status: OutcomeStatus, message: str) -> float | None:
        """Return the seconds until another try is worth it, as far as Claude Code reports them."""
        if status == "quota":
            ends = self._resets or limit_end(message, _moment(self._said) or self._clock())
            return None if ends is None else max(0.0, ends - self._clock())
        return self._delay if status == "rate_limited" else None


def _is_plain(line: bytes) -> bool:
    """Whether a line only contains the output of a tool, which may be megabytes that nobody here reads."""
    if _TOLD.match(line) is None:
        return False
    for each in _SPECIAL:  # noqa: SIM110 - twice as fast as `any`
        if each in line:
            return False
    return True


def describe_line(line: bytes) -> str | None:
    """Describe in a few words what a line shows the agent doing; None for lines that show nothing."""
    said = {} if _TOLD.match(line) else read_line(line)
    if said.get("type") != "assistant":
        return None
    tools = [tool_words(each) for each in blocks(said, "tool_use")]
    words = (each for block in blocks(said, "text") for each in text(block, "text").splitlines() if each.strip())
    return tools[-1] if tools else next(words, None)


def blocks(said: Line, kind: str = "") -> Iterator[Line]:
    """Give the parts of a message, or those of one kind."""
    for each in _list(part(said, "message"), "content"):
        if isinstance(each, dict) and kind in ("", each.get("type")):
            yield each


def _list(said: Line, name: str) -> list[JsonValue]:
    value = said.get(name)
    return cast("list[JsonValue]", value) if isinstance(value, list) else []


def tool_words(use: Line) -> str:
    """Format a tool with the most informative part of its input, on one line."""
    given = part(use, "input")
    what = next((text(given, name) for name in SHOWN if text(given, name)), "")
    return " ".join([text(use, "name"), *what.split()])


def _denials(result: Line) -> str:
    """List the tool calls that were denied; empty where none was."""
    denied = [each for each in _list(result, "permission_denials") if isinstance(each, dict)]
    if not denied:
        return ""
    shown = [tool_words({"name": each.get("tool_name"), "input": each.get("tool_input")}) for each in denied]
    more = [f"and {len(shown) - MAX_DENIALS} more"] if len(shown) > MAX_DENIALS else []
    return "; ".join(["denied: " + shown[0], *shown[1:MAX_DENIALS], *more])


def _wordless(result: Line) -> str:
    code = number(result.get("api_error_status"))
    kind = text(result, "api_error_type") or ("an error" if code is None else f"status {code:.0f}")
    return f"the service answered with {kind} and no message"


def _is_unknown_session(result: Line) -> bool:
    errors = [each for each in _list(result, "errors") if isinstance(each, str)]
    return any(each.startswith("No conversation found") for each in errors)


def _moment(stamp: str) -> float:
    try:
        return datetime.fromisoformat(stamp).timestamp()
    except ValueError:
        return 0.0
