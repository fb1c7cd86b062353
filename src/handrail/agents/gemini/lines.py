"""Reads the JSON lines of Gemini CLI, and how the call ended: from its `result` first, then from the exit status."""

import re

from handrail.agents.json_lines import Line, count, explain_no_result, part, skim, text
from handrail.agents.service_errors import status_of
from handrail.ports.agents import AgentOutcome, CallProgress, OutcomeStatus, Usage
from handrail.ports.processes import Ended, Gone

MAX_DENIALS = 5
SHOWN = ("command", "file_path", "path", "dir_path", "pattern", "query", "url", "prompt", "description")
"""The most informative keys of a tool's input, the best first."""
_CODE = re.compile(r'"code":\s*(\d{3})')
_INNER = re.compile(r'"message":\s*"((?:[^"\\]|\\.)*)"')
_DELAY = re.compile(r'"retryDelay":\s*"([\d.]+)s"')
_WRAPPED = re.compile(r"^\[API Error: (.*)\]", re.DOTALL)
_ADVICE = "\nPlease wait and try again later"
"""What it appends to every limit, whether a quota or not."""
_STOPPED = re.compile(r"loop detected|turn limit|max(?:imum)? session turns", re.IGNORECASE)
_NUMBERS = {number % 256: number for number in (400, 401, 402, 403, 404, 408, 413, 429, 500, 502, 503, 504, 529)}
"""HTTP statuses by what is left of them in an exit code."""
_DENIED = frozenset({"tool_not_registered", "policy_violation"})
_OUTSIDE = "Path not in workspace"
"""How it reports that a tool was to write where it may not; that has no error type of its own."""
_EXITS: dict[int, tuple[OutcomeStatus, str]] = {
    41: ("auth", "Gemini CLI is not logged in; run `gemini` once, or set GEMINI_API_KEY"),
    42: ("api_error", "Gemini CLI rejected the call: it does not know the conversation to continue"),
    52: ("auth", "Gemini CLI cannot use its settings; run `gemini` once to see why"),
    53: ("limit", "it reached the limit of turns in its settings"),
    55: ("denied", "Gemini CLI does not trust the folder"),
    130: ("cancelled", "it was interrupted"),
}
"""The meaning of exit codes where it prints nothing."""


class GeminiLines:
    """The reader of one call; unknown events are ignored."""

    def __init__(self) -> None:
        self._session: str | None = None
        self._words: list[str] = []
        self._trouble = ""
        self._tools: dict[str, str] = {}
        self._stopped = ""
        self._denials: list[str] = []
        self._result: Line | None = None
        self._running: set[str] = set()

    def feed(self, line: bytes) -> str:
        """Read one line; return what to show of it on the screen, or an empty text."""
        said = skim(line)
        match said.get("type"):
            case "init":
                self._session = text(said, "session_id") or None
            case "message" if said.get("role") == "assistant":
                self._words.append(text(said, "content"))
                return self._words[-1]
            case "tool_use":
                self._words.clear()
                self._tools[text(said, "tool_id")] = text(said, "tool_name")
                self._running.add(text(said, "tool_id"))
                return _tool(said)
            case "tool_result":
                self._end_tool(said)
            case "error" if said.get("severity") != "warning":
                self._trouble = text(said, "message")
            case "error" if _STOPPED.search(text(said, "message")):
                self._stopped = text(said, "message")
            case "result":
                self._result = said
            case _:
                pass
        return ""

    def outcome(self, ended: Ended | Gone) -> AgentOutcome:
        """Return how the call ended."""
        status, message = self._status(ended)
        delay = _DELAY.search(message)
        return AgentOutcome(
            status=status,
            text="".join(self._words),
            session=self._session,
            usage=_usage(part(self._result or {}, "stats")),
            message=_unwrap_message(message),
            retry_after=float(delay[1]) if delay else None,
        )

    def read_progress(self) -> CallProgress:
        """Return whether a tool is running; usage is reported at the end only."""
        return CallProgress(at_work=bool(self._running))

    def _end_tool(self, said: Line) -> None:
        self._running.discard(text(said, "tool_id"))
        error = part(said, "error")
        kept = text(error, "type") in _DENIED or text(error, "message").startswith(_OUTSIDE)
        if said.get("status") == "error" and kept:
            name = self._tools.get(text(said, "tool_id"), "a tool")
            self._denials += [name] if len(self._denials) < MAX_DENIALS and name not in self._denials else []

    def _status(self, ended: Ended | Gone) -> tuple[OutcomeStatus, str]:
        if self._result is None:
            code = ended.code if isinstance(ended, Ended) else -1
            return _EXITS.get(code, ("crashed", self._trouble or explain_no_result(ended)))
        if self._result.get("status") == "success":
            return self._success_status()
        told = text(part(self._result, "error"), "message") or self._trouble or "Gemini CLI did not give a reason"
        message = told.partition(_ADVICE)[0]
        number = _CODE.search(message)
        left = _NUMBERS.get(ended.code) if isinstance(ended, Ended) else None
        return status_of(int(number[1]) if number else left, message), message

    def _success_status(self) -> tuple[OutcomeStatus, str]:
        """Check a reported success: it may have been broken off, or have come to nothing."""
        if self._stopped:
            return "limit", self._stopped
        if not any(self._words) and not self._tools:
            return "no_output", "the agent ended without an answer and without using a tool"
        return "ok", f"denied: {', '.join(self._denials)}" if self._denials else ""


def describe_line(line: bytes) -> str | None:
    """Describe in a few words what a line shows the agent doing; None for lines that show nothing."""
    said = skim(line)
    match said.get("type"):
        case "tool_use":
            return _tool(said)
        case "message" if said.get("role") == "assistant":
            return next((each.strip() for each in text(said, "content").splitlines() if each.strip()), None)
        case _:
            return None


def _unwrap_message(message: str) -> str:
    """Extract the message of the service from its wrapping."""
    inner, wrapped = _INNER.search(message), _WRAPPED.search(message)
    return inner[1] if inner else wrapped[1] if wrapped else message


def _tool(said: Line) -> str:
    given = part(said, "parameters")
    words = next((text(given, name) for name in SHOWN if text(given, name)), "")
    return f"{text(said, 'tool_name')} {words}".strip()


def _usage(stats: Line) -> Usage:
    """Convert the usage; Gemini counts cached tokens as input, too."""
    cached = count(stats.get("cached"))
    return Usage(max(0, count(stats.get("input_tokens")) - cached), count(stats.get("output_tokens")), cached)
