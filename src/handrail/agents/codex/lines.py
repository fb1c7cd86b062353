"""Reads the JSON lines of `codex exec --json`, and how the call ended.

1. A completed or failed turn decides; `error` lines are notices, such as that it reconnects.
2. Codex counts tokens over the whole conversation: what a call used is the difference, which the caller computes.
3. A result is the last message; whether it has the requested shape is checked by the caller.
"""

import re
import shlex
from dataclasses import replace
from datetime import datetime

from handrail.agents.codex.errors import kind_of, seconds_left
from handrail.agents.json_lines import Line, count, explain_no_result, part, skim, text
from handrail.ports.agents import AgentOutcome, CallProgress, Usage
from handrail.ports.processes import Ended, Gone

_NO_SANDBOX = (
    "Codex's sandbox does not work on this machine, so its commands cannot run; `codex sandbox -- true` shows why. "
    "Fix that (often: install bubblewrap), or give the step `access: full`, which needs no sandbox"
)
_SHELL = re.compile(r"\S+ -l?c '([^']*)'")
_AGAIN = "Reconnecting..."
"""How notices begin that say that it tries to reach its service again, endlessly where there is no network."""


class CodexLines:
    """The reader of one call; unknown events are ignored."""

    def __init__(self) -> None:
        self._session: str | None = None
        self._words = ""
        self._trouble = ""
        self._final: Line = {}
        self._worked = False
        self._ran = False
        self._confined = True
        self._items: set[str] = set()

    def feed(self, line: bytes) -> str:
        """Read one line; return what to show of it on the screen, or an empty text."""
        said = skim(line)
        match said.get("type"):
            case "item.completed":
                item = part(said, "item")
                self._trouble = ""
                self._items.discard(text(item, "id"))
                return self._item(item)
            case "item.started":
                self._trouble = ""
                self._items.add(text(part(said, "item"), "id"))
            case "error":
                self._trouble = text(said, "message")
            case "thread.started":
                self._session = text(said, "thread_id") or None
            case "turn.completed" | "turn.failed":
                self._final = said
            case "handrail.sandbox":
                self._confined = False
            case _:
                pass
        return ""

    def outcome(self, ended: Ended | Gone) -> AgentOutcome:
        """Return how the call ended, from the lines first, then from the exit status."""
        match self._final.get("type"):
            case "turn.completed":
                return self._success_outcome()
            case "turn.failed":
                said = text(part(self._final, "error"), "message") or self._trouble
                return self._failure_outcome(said or "Codex ended the turn without saying why")
            case _ if self._trouble.startswith(_AGAIN):
                return self._failure_outcome(self._trouble)
            case _:
                message = self._trouble or explain_no_result(ended)
                return AgentOutcome(status="crashed", text=self._words, session=self._session, message=message)

    def read_progress(self) -> CallProgress:
        """Return whether a tool is running; usage is reported at the end only."""
        return CallProgress(at_work=bool(self._items))

    def _item(self, item: Line) -> str:
        kind = item.get("type")
        self._worked = self._worked or kind != "error"
        if kind == "agent_message":
            self._words = text(item, "text")
            return self._words
        if kind == "command_execution":
            self._ran = self._ran or item.get("exit_code") == 0
            return _describe_command(item)
        return doing(item) or ""

    def _success_outcome(self) -> AgentOutcome:
        used = _usage(part(self._final, "usage"))
        base = AgentOutcome(status="ok", text=self._words, session=self._session, usage=used, total=used)
        if not self._confined and not self._ran:
            return replace(base, status="denied", message=_NO_SANDBOX)
        if not self._worked:
            return replace(
                base, status="no_output", message="the agent ended without an answer and without using a tool"
            )
        return base

    def _failure_outcome(self, message: str) -> AgentOutcome:
        kind = kind_of(message)
        after = seconds_left(message, datetime.now()) if kind in ("quota", "rate_limited") else None  # noqa: DTZ005
        return AgentOutcome(status=kind, text=self._words, session=self._session, message=message, retry_after=after)


def describe_line(line: bytes) -> str | None:
    """Describe in a few words what a line shows the agent doing; None for lines that show nothing."""
    said = skim(line)
    match said.get("type"):
        case "item.started" | "item.completed":
            return doing(part(said, "item"))
        case "error":
            return text(said, "message") or None
        case _:
            return None


def doing(item: Line) -> str | None:
    """Say what an item shows the agent doing; None for one that shows nothing."""
    match item.get("type"):
        case "command_execution":
            return f"$ {_command(item)}"
        case "file_change":
            return f"edits {', '.join(_files(item))}"
        case "mcp_tool_call":
            return f"{text(item, 'server')}: {text(item, 'tool')}"
        case "web_search":
            return f"searches {text(item, 'query')}".rstrip()
        case "agent_message" | "reasoning":
            return next((each.strip() for each in text(item, "text").splitlines() if each.strip()), None)
        case _:
            return None


def _command(item: Line) -> str:
    """Return the command as the agent meant it, without the shell that Codex puts around it."""
    given = text(item, "command")
    plain = _SHELL.fullmatch(given)
    if plain is not None:
        return plain[1]
    try:
        words = shlex.split(given)
    except ValueError:
        return given
    return words[2] if len(words) == 3 and words[1] in ("-lc", "-c") else given


def _files(item: Line) -> list[str]:
    changes = item.get("changes")
    each = [change for change in changes if isinstance(change, dict)] if isinstance(changes, list) else []
    return [text(change, "path").rstrip("/").rpartition("/")[2] for change in each]


def _describe_command(item: Line) -> str:
    """Format a command, with its exit code and output if it failed."""
    shown, code = f"$ {_command(item)}", item.get("exit_code")
    if not isinstance(code, int) or code == 0:
        return shown
    return "\n".join([f"{shown} (exit code {code})", *text(item, "aggregated_output").splitlines()])


def _usage(told: Line) -> Usage:
    """Convert the usage; Codex counts cached tokens as input, too."""
    cached = count(told.get("cached_input_tokens"))
    read = max(0, count(told.get("input_tokens")) - cached)
    return Usage(read, count(told.get("output_tokens")), cached)
