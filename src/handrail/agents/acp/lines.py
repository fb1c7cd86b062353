"""Reads the JSON lines of the bridge to an agent of the Agent Client Protocol, and how the call ended."""

from handrail.agents.json_lines import Line, amount, count, explain_no_result, part, skim, text
from handrail.agents.service_errors import status_of
from handrail.ports.agents import AgentOutcome, CallProgress, OutcomeStatus, Usage
from handrail.ports.processes import Ended, Gone

MAX_DENIALS = 5
AUTHENTICATE = -32000
"""The code of the error that asks for a login."""
_STOPS: dict[str, tuple[OutcomeStatus, str]] = {
    "end_turn": ("ok", ""),
    "max_tokens": ("limit", "its answer exceeded the model's maximum output length"),
    "max_turn_requests": ("limit", "it reached its own limit of turns"),
    "refusal": ("api_error", "the model refused to continue"),
    "cancelled": ("cancelled", "it was interrupted"),
}


class AcpLines:
    """The reader of one call; lines that are not from the bridge are ignored."""

    def __init__(self) -> None:
        self._session: str | None = None
        self._resumed = False
        self._words = ""
        self._trouble = ""
        self._denials: list[str] = []
        self._cost: float | None = None
        self._final: Line | None = None
        self._tools: set[str] = set()

    def feed(self, line: bytes) -> str:
        """Read one line; return what to show of it on the screen, or an empty text."""
        said = skim(line)
        match said.get("type"):
            case "session":
                self._session = text(said, "session") or None
                self._resumed = said.get("resumed") is True
            case "update":
                return self._read_update(part(said, "update"))
            case "permission" if said.get("granted") is not True:
                name = text(said, "title")
                self._denials += [name] if len(self._denials) < MAX_DENIALS and name not in self._denials else []
                return f"denied: {name}: {text(said, 'why')}"
            case "error":
                self._trouble = text(said, "message")
            case "end" | "failed":
                self._final = said
            case _:
                pass
        return ""

    def outcome(self, ended: Ended | Gone) -> AgentOutcome:
        """Return how the call ended, from the lines first, then from the exit status."""
        status, message = self._status(ended)
        return AgentOutcome(
            status=status,
            text=self._words,
            session=self._session,
            usage=_usage(part(self._final or {}, "usage")),
            cost=self.read_progress().cost,
            message=message,
        )

    def read_progress(self) -> CallProgress:
        """Return what the call has cost so far, where the agent reports that, and whether a tool is running."""
        # The agent counts over the whole conversation.
        return CallProgress(
            cost=None if self._resumed else self._cost, at_work=bool(self._tools) and self._final is None
        )

    def _read_update(self, update: Line) -> str:
        self._follow_tool(update)
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                words = text(part(update, "content"), "text")
                self._words += words
                # Not every agent reports the end of its tools; when the model speaks again, they have ended.
                self._tools = set()
                return words
            case "tool_call":
                self._words = ""
                return text(update, "title")
            case "usage_update":
                cost = part(update, "cost")
                self._cost = amount(cost.get("amount")) if text(cost, "currency") == "USD" else None
            case _:
                pass
        return ""

    def _follow_tool(self, update: Line) -> None:
        if update.get("sessionUpdate") in ("tool_call", "tool_call_update"):
            name = {text(update, "toolCallId")}
            over = text(update, "status") in ("completed", "failed")
            self._tools = self._tools - name if over else self._tools | name

    def _status(self, ended: Ended | Gone) -> tuple[OutcomeStatus, str]:
        final = self._final
        if final is None:
            return "crashed", self._trouble or explain_no_result(ended)
        if final.get("type") == "failed":
            error = part(final, "error")
            return _kind(error), f"{text(final, 'during')}: {_message(error)}"
        stop = text(final, "stopReason")
        status, message = _STOPS.get(stop, ("api_error", f"it stopped for an unknown reason: {stop or 'none'}"))
        denied = f"denied: {', '.join(self._denials)}" if self._denials else ""
        return status, message or denied


def describe_line(line: bytes) -> str | None:
    """Describe in a few words what a line shows the agent doing; None for lines that show nothing."""
    said = skim(line)
    update = part(said, "update") if said.get("type") == "update" else {}
    match update.get("sessionUpdate"):
        case "tool_call":
            return text(update, "title") or None
        case "agent_message_chunk":
            lines = text(part(update, "content"), "text").splitlines()
            return next((each.strip() for each in lines if each.strip()), None)
        case _:
            return None


def _kind(error: Line) -> OutcomeStatus:
    code = error.get("code")
    if code == AUTHENTICATE:
        return "auth"
    told = part(error, "data").get("statusCode") or code
    return status_of(told if isinstance(told, int) and 400 <= told < 600 else None, _message(error))


def _message(error: Line) -> str:
    details = text(part(error, "data"), "details") or text(error, "data")
    return ": ".join(each for each in (text(error, "message"), details) if each) or "the agent did not give a reason"


def _usage(told: Line) -> Usage:
    read = count(told.get("inputTokens")) + count(told.get("cachedWriteTokens"))
    written = count(told.get("outputTokens")) + count(told.get("thoughtTokens"))
    return Usage(read, written, count(told.get("cachedReadTokens")))
