"""Reads the JSON lines of opencode, and how the call ended.

It has no event for the end: the last step is the one that finished for another reason than to use tools.
"""

import re

from handrail.agents.json_lines import Line, amount, count, explain_no_result, part, skim, text
from handrail.agents.service_errors import status_of
from handrail.ports.agents import AgentOutcome, CallProgress, OutcomeStatus, Usage
from handrail.ports.processes import Ended, Gone

MAX_DENIALS = 5
SHOWN = ("command", "filePath", "path", "pattern", "query", "url", "description")
"""The most informative keys of a tool's input, the best first."""
_DENIED = re.compile(r"rule which prevents|unavailable tool|rejected permission|permission was denied", re.IGNORECASE)
_NAMES: dict[str, OutcomeStatus] = {
    "ProviderAuthError": "auth",
    "MessageAbortedError": "cancelled",
    "MessageOutputLengthError": "limit",
    "ContextOverflowError": "limit",
}
_REASONS: dict[str, tuple[OutcomeStatus, str]] = {
    "length": ("limit", "its answer exceeded the model's maximum output length"),
    "content-filter": ("api_error", "the service withheld the answer"),
}


class OpencodeLines:
    """The reader of one call; unknown events are ignored."""

    def __init__(self) -> None:
        self._session: str | None = None
        self._words = ""
        self._error: Line | None = None
        self._reason = ""
        self._denials: list[str] = []
        self._input = self._output = self._cached = 0
        self._cost = 0.0

    def feed(self, line: bytes) -> str:
        """Read one line; return what to show of it on the screen, or an empty text."""
        said = skim(line)
        self._session = text(said, "sessionID") or self._session
        match said.get("type"):
            case "step_start":
                self._reason = ""
            case "text":
                self._words = text(part(said, "part"), "text") or self._words
                return self._words
            case "tool_use":
                return self._tool(part(said, "part"))
            case "step_finish":
                self._count(part(said, "part"))
            case "error":
                self._error = part(said, "error")
            case _:
                pass
        return ""

    def outcome(self, ended: Ended | Gone) -> AgentOutcome:
        """Return how the call ended, from the lines first, then from the exit status."""
        status, message = self._status(ended)
        took = self.read_progress()
        told = text(part(part(self._error or {}, "data"), "responseHeaders"), "retry-after")
        return AgentOutcome(
            status=status,
            text=self._words,
            session=self._session,
            usage=took.usage,
            cost=took.cost,
            message=message,
            retry_after=float(told) if told.isdecimal() else None,
        )

    def read_progress(self) -> CallProgress:
        """Return what the finished steps used; tools are reported when they end, so no running one is known."""
        used = Usage(self._input, self._output, self._cached)
        # For a model without a price it reports a cost of 0.
        return CallProgress(used, self._cost if self._cost or not used.tokens else None)

    def _tool(self, used: Line) -> str:
        state = part(used, "state")
        # A tool that it does not have is reported as a use of `invalid`, with the tool and the reason as the input.
        given = part(state, "input") if text(used, "tool") == "invalid" else {}
        name = text(given, "tool") or text(used, "tool")
        if _DENIED.search(text(state, "error") or text(given, "error")):
            self._denials += [name] if len(self._denials) < MAX_DENIALS and name not in self._denials else []
        return _describe_tool(used)

    def _count(self, finished: Line) -> None:
        self._reason = text(finished, "reason")
        tokens = part(finished, "tokens")
        cache = part(tokens, "cache")
        self._input += count(tokens.get("input")) + count(cache.get("write"))
        self._output += count(tokens.get("output")) + count(tokens.get("reasoning"))
        self._cached += count(cache.get("read"))
        self._cost += amount(finished.get("cost")) or 0.0

    def _status(self, ended: Ended | Gone) -> tuple[OutcomeStatus, str]:
        if self._error is not None:
            words = text(part(self._error, "data"), "message") or text(self._error, "name")
            return _kind(self._error), words or "it reported an error without a message"
        code = ended.code if isinstance(ended, Ended) else None
        if code != 0 or self._reason in ("", "tool-calls"):
            return "crashed", explain_no_result(ended)
        if self._reason == "stop":
            return "ok", f"denied: {', '.join(self._denials)}" if self._denials else ""
        return _REASONS.get(self._reason, ("network", f"the model's answer was cut off ({self._reason})"))


def describe_line(line: bytes) -> str | None:
    """Describe in a few words what a line shows the agent doing; None for lines that show nothing."""
    said = skim(line)
    match said.get("type"):
        case "tool_use":
            return _describe_tool(part(said, "part")) or None
        case "text":
            lines = text(part(said, "part"), "text").splitlines()
            return next((each.strip() for each in lines if each.strip()), None)
        case _:
            return None


def _describe_tool(used: Line) -> str:
    given = part(part(used, "state"), "input")
    words = next((text(given, name) for name in SHOWN if text(given, name)), "")
    return f"{text(used, 'tool')} {words}".strip()


def _kind(error: Line) -> OutcomeStatus:
    data = part(error, "data")
    told = data.get("statusCode")
    by_name = _NAMES.get(text(error, "name"))
    return by_name or status_of(told if isinstance(told, int) else None, text(data, "message"))
