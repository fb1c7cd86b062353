"""Sorts the JSON lines of `codex exec --json` for a transcript: what it said, thought, called and was answered."""

from handrail.agents.codex.lines import doing
from handrail.agents.json_lines import Line, part, read_line, text
from handrail.ports.agents import TranscriptPart


class CodexTranscript:
    """The reader of one call; an item is called when it starts, or when it is done if its start was not reported."""

    def __init__(self) -> None:
        self._called: set[str] = set()

    def feed(self, line: bytes) -> tuple[TranscriptPart, ...]:
        """Take one line; give what it shows, in order."""
        said = read_line(line)
        item = part(said, "item")
        match said.get("type"), item.get("type"):
            case "error", _:
                return (TranscriptPart("notice", text(said, "message")),)
            case "item.completed", "agent_message":
                return (TranscriptPart("said", text(item, "text")),)
            case "item.completed", "reasoning":
                return (TranscriptPart("thought", text(item, "text")),)
            case "item.started", _:
                return self._call(item)
            case "item.completed", "command_execution":
                return (*self._call(item), TranscriptPart("tool_result", _result(item)))
            case "item.completed", _:
                return self._call(item)
            case _:
                return ()

    def _call(self, item: Line) -> tuple[TranscriptPart, ...]:
        name = text(item, "id")
        if item.get("type") in ("agent_message", "reasoning") or name in self._called:
            return ()
        self._called.add(name)
        return (TranscriptPart("tool_call", doing(item) or ""),)


def _result(item: Line) -> str:
    code = item.get("exit_code")
    words = text(item, "aggregated_output")
    return f"exit code {code}\n{words}" if isinstance(code, int) and code else words
