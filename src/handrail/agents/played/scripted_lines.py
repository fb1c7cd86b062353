"""Reads the JSON lines of the scripted agent's process, and how the call ended."""

from typing import cast, get_args

from handrail.agents.json_lines import Line, amount, count, explain_no_result, read_line, skim, text
from handrail.model.workflow.values import JsonValue
from handrail.ports.agents import AgentOutcome, CallProgress, OutcomeStatus, Usage
from handrail.ports.processes import Ended, Gone

_STATUSES = frozenset(get_args(OutcomeStatus))


class ScriptedLines:
    """The reader of one call; lines outside the protocol are ignored."""

    def __init__(self) -> None:
        self._session: str | None = None
        self._trouble = ""
        self._result: Line | None = None
        self._took = CallProgress()
        self._runs = False

    def feed(self, line: bytes) -> str:
        """Read one line; return what to show of it on the screen, or an empty text."""
        said = skim(line)
        match said.get("type"):
            case "session":
                self._session = text(said, "session") or None
            case "text":
                return text(said, "text")
            case "doing":
                self._runs = True
            case "tool":
                self._runs = False
                return _tool(said)
            case "usage":
                self._took = CallProgress(_usage(said.get("usage")), amount(said.get("cost")))
            case "error":
                self._trouble = text(said, "message")
            case "result" if text(said, "status") in _STATUSES:
                self._result = read_line(line) or None
            case _:
                pass
        return ""

    def outcome(self, ended: Ended | Gone) -> AgentOutcome:
        """Return how the call ended, from the lines first, then from the exit status."""
        result = self._result
        if result is None:
            message = self._trouble or explain_no_result(ended)
            took = self._took
            return AgentOutcome(
                status="crashed", session=self._session, usage=took.usage, cost=took.cost, message=message
            )
        status = cast("OutcomeStatus", result["status"])
        return AgentOutcome(
            status=status,
            text=text(result, "text"),
            output=result.get("output"),
            has_output="output" in result,
            session=text(result, "session") or self._session,
            usage=_usage(result.get("usage")),
            cost=amount(result.get("cost")),
            message=text(result, "message") or ("" if status == "ok" else f"the script ends the call as {status}"),
            retry_after=amount(result.get("retry_after")),
            question=text(result, "question"),
        )

    def read_progress(self) -> CallProgress:
        """Return what the call reports to have used, and whether a command is running."""
        return CallProgress(self._took.usage, self._took.cost, at_work=self._runs)


def describe_line(line: bytes) -> str | None:
    """Describe in a few words what a line shows the agent doing; None for lines that show nothing."""
    said = read_line(line)
    match said.get("type"):
        case "tool" | "doing":
            return " ".join([text(said, "name"), *_words(said.get("input"))]) or None
        case "text":
            return next((each for each in text(said, "text").splitlines() if each.strip()), None)
        case _:
            return None


def _usage(value: JsonValue) -> Usage:
    given = value if isinstance(value, dict) else {}
    return Usage(*(count(given.get(name)) for name in ("input_tokens", "output_tokens", "cached_tokens")))


def _tool(said: Line) -> str:
    """Format a tool with its input, and the exit code and output of a command that failed."""
    shown = call_words(said)
    code = said.get("exit_code")
    if not isinstance(code, int) or code == 0:
        return shown
    return "\n".join([f"{shown} (exit code {code})", *text(said, "output").splitlines()])


def call_words(said: Line) -> str:
    """Format a tool with its input."""
    words = _words(said.get("input"))
    return " ".join([f"{text(said, 'name')}:", *words]) if words else text(said, "name")


def _words(given: JsonValue) -> list[str]:
    """Return the plain values of a tool's input."""
    values = given.values() if isinstance(given, dict) else ()
    return [str(each) for each in values if isinstance(each, str | int | float)]
