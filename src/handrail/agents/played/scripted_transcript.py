"""Sorts the JSON lines of the scripted agent for a transcript: what it said, called and was answered."""

from handrail.agents.json_lines import Line, read_line, text
from handrail.agents.played.scripted_lines import call_words
from handrail.ports.agents import TranscriptPart


class ScriptedTranscript:
    """The reader of one call; a command is reported when it begins, and its output when it has ended."""

    def __init__(self) -> None:
        self._runs = False

    def feed(self, line: bytes) -> tuple[TranscriptPart, ...]:
        """Take one line; give what it shows, in order."""
        said = read_line(line)
        match said.get("type"):
            case "text":
                return (TranscriptPart("said", text(said, "text")),)
            case "doing":
                self._runs = True
                return (TranscriptPart("tool_call", call_words(said)),)
            case "tool":
                called = () if self._runs else (TranscriptPart("tool_call", call_words(said)),)
                self._runs = False
                return (*called, TranscriptPart("tool_result", _result(said)))
            case _:
                return ()


def _result(said: Line) -> str:
    code, words = said.get("exit_code"), text(said, "output")
    return f"exit code {code}\n{words}" if isinstance(code, int) and code else words
