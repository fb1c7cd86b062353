"""The transcript of a step: each call with what its agent said and did, written while it is read."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from handrail.cli.render.runs import local_moment
from handrail.cli.render.safe_text import escape_controls, escape_lines

if TYPE_CHECKING:
    from handrail.operations.views.transcript import AgentStream, Transcripts


def transcript_lines(transcripts: "Transcripts", calls: "tuple[AgentStream, ...]") -> Iterator[str]:
    """Yield the lines of a transcript one by one."""
    for position, call in enumerate(calls):
        if position:
            yield ""
        yield escape_controls(f"── {call.step}, call {call.number} · {call.words} · {local_moment(call.at)}")
        for entry in transcripts.entries(call):
            first, *others = escape_lines(entry.text)
            # What a tool answered stands below its call.
            yield f"  {first}" if entry.kind == "tool_result" else f"• {first}"
            yield from (f"  {line}" for line in others)
        yield escape_controls(f"── {transcripts.ending(call)}")
