"""Sorts the JSON lines of `codex exec --json` for a transcript: what it said, thought, called and was answered."""

from handrail.agents.codex.lines import doing
from handrail.agents.json_lines import Line, part, read_line, text
from handrail.ports.agents import Part


class CodexTranscript:
    """The reader of one call; an item is called when it starts, or when it is done if its start was not reported."""

    def __init__(self) -> None:
        self._called: set[str] = set()

    def feed(self, line: bytes) -> tuple[Part, ...]:
        """Take one line; give what it shows, in order."""
        said = read_line(line)
        item = part(said, "item")
        match said.get("type"), item.get("type"):
            case "error", _:
                return (Part("notice", text(said, "message")),)
            case "item.completed", "agent_message":
                return (Part("said", text(item, "text")),)
            case "item.completed", "reasoning":
                return (Part("thought", text(item, "text")),)
            case "item.started", _:
                return self._call(item)
            case "item.completed", "command_execution":
                return (*self._call(item), Part("tool_result", _result(item)))
            case "item.completed", _:
                return self._call(item)
            case _:
                return ()

    def _call(self, item: Line) -> tuple[Part, ...]:
        name = text(item, "id")
        if item.get("type") in ("agent_message", "reasoning") or name in self._called:
            return ()
        self._called.add(name)
        return (Part("tool_call", doing(item) or ""),)


def _result(item: Line) -> str:
    code = item.get("exit_code")
    words = text(item, "aggregated_output")
    return f"exit code {code}\n{words}" if isinstance(code, int) and code else words
