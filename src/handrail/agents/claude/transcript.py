"""Sorts the JSON lines of Claude Code for a transcript: what it said, thought, called and was answered."""

from collections.abc import Iterator

from handrail.agents.claude.lines import blocks, tool_words
from handrail.agents.json_lines import Line, read_line, text
from handrail.ports.agents import TranscriptPart


class ClaudeTranscript:
    """The reader of one call."""

    def feed(self, line: bytes) -> tuple[TranscriptPart, ...]:
        """Take one line; give what it shows, in order."""
        said = read_line(line)
        match said.get("type"):
            case "assistant":
                return tuple(_said(said))
            case "user":
                return tuple(TranscriptPart("tool_result", _result(each)) for each in blocks(said, "tool_result"))
            case _:
                return ()


def _said(said: Line) -> Iterator[TranscriptPart]:
    for each in blocks(said):
        match each.get("type"):
            case "text":
                # A refusal by the service comes as if the agent had said it.
                yield TranscriptPart("notice" if text(said, "error") else "said", text(each, "text"))
            case "thinking":
                yield TranscriptPart("thought", text(each, "thinking"))
            case "tool_use":
                yield TranscriptPart("tool_call", tool_words(each))
            case _:
                pass


def _result(block: Line) -> str:
    """What a tool answered, which may be a text or a list of them."""
    content = block.get("content")
    parts = content if isinstance(content, list) else []
    texts = [text(each, "text") for each in parts if isinstance(each, dict)]
    words = "\n".join(texts) or text(block, "content")
    return f"failed: {words}" if block.get("is_error") is True else words
