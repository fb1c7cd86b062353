"""What the agents of a step said and did, read from the output of their calls: while they work, and afterwards.

1. The output of an agent is stored with the outcome of its call, in pieces of about a megabyte. It outlives the files
   of the call, and is part of an exported run.
2. A call in progress, or one without an outcome (it was killed, or hit a usage limit), is read from its files.
3. A stream is read piece by piece, and each entry is returned as soon as it is read, however long the stream is. A
   reader who knows the position of an entry starts there.
4. Only what the keeper of a call has processed is shown, and the run's secrets are removed from that once more.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from handrail.engine.state.agent_calls import call_of
from handrail.errors import HandrailError, UsageError
from handrail.frozen import frozen
from handrail.model.history.events import QuestionAsked, StepBegan, StepEnded, StepRefused
from handrail.model.history.named_blobs import Stream
from handrail.model.secrets.redaction import Redactor
from handrail.operations.views.event_sentences import agent_words
from handrail.operations.views.run_document import iso
from handrail.operations.views.step_addresses import FoundStep, Try, find_steps, members, tries
from handrail.ports.agents import Agent, Agents, EntryKind, HasTranscript, TranscriptPart
from handrail.ports.log import Log
from handrail.ports.processes import Ended, Gone, Processes, Running
from handrail.runtime.call_activity import newest_start
from handrail.runtime.history import state_of

SETTLED = 1.0
"""Seconds after which the keeper of a call has removed the secrets from what was printed."""
MAX_RESULT = 2_000
"""The number of characters of a tool's answer that are shown."""
PIECE = 4 << 20
"""The number of bytes that are read at once."""


@frozen
class AgentStream:
    """One call of an agent, and where its output goes."""

    run: str
    step: str
    """The address of its step, relative to the requested run."""
    number: int
    """Which call of the step it is."""
    agent: str
    words: str
    """The agent and its model, as people know them."""
    at: float
    place: Path
    printed: Stream = ()
    """Its stored output; empty while it is in progress."""


@frozen
class Entry:
    """Something that an agent said or did."""

    offset: int
    """The byte of the stream after the line that shows it: a reader can continue from there."""
    text: str
    kind: EntryKind = "printed"


@frozen
class Transcripts:
    """Reads the output of agents."""

    log: Log
    processes: Processes
    agents: Agents
    redactor: Redactor
    folder: Path
    """The folder with the folders of the calls of runs."""

    def calls(self, run: str, step: str) -> tuple[AgentStream, ...]:
        """List the calls of a step, and of the steps inside it, in the order in which they were made."""
        found = tuple(self._calls(run, find_steps(self.log, run, step)))
        if not found:
            raise UsageError(f"no agent was called for '{step}' of {run}", next_step=f"handrail show {run} {step}")
        return tuple(sorted(found, key=lambda each: each.at))

    def entries(self, call: AgentStream, after: int = 0) -> Iterator[Entry]:
        """Yield what an agent said and did, from a byte of its stream on; up to its end once it has stopped."""
        tree = state_of(self.log, call.run).tree
        agent = self.agents.find(call.agent or None, None if tree is None else tree.repository)
        feed, last = _sorter(agent), TranscriptPart("printed", "")
        lines = self._read_stored_lines(call.printed, after) if call.printed else self._lines(call.place, after)
        for offset, line in lines:
            for part in feed(line):
                found = TranscriptPart(part.kind, part.text.strip())
                if found.text and found != last:
                    last = found
                    yield Entry(offset, self.redactor.text(_shortened(found)), found.kind)

    def text(self, call: AgentStream) -> str:
        """Write down what an agent said and did, one entry after the other, and the state of the call."""
        told = (f"{each.kind}: {each.text}" for each in self.entries(call))
        return "\n".join((*told, f"({self.ending(call)})"))

    def ending(self, call: AgentStream) -> str:
        """Describe the state of a call: at work, ended, killed, or no longer there."""
        if call.printed:
            return "ended"
        match self.processes.look(str(call.place)):
            case Running():
                return "at work"
            case Ended() as ended:
                return f"ended with exit code {ended.code}"
            case Gone():
                return "killed; its output was not checked for secrets, so it is not shown"
            case None:
                return "its output is no longer stored"

    def _calls(self, run: str, found: tuple[FoundStep, ...]) -> Iterator[AgentStream]:
        for each in found:
            for inner in (each, *self._find_inner_steps(run, each)):
                known = tries(self.log, inner.run, inner.address)
                numbered = enumerate(known, start=1)
                for number, one in numbered:
                    if inner.nth in (None, number) and (call := _find_call(one)) is not None:
                        place = newest_start(self.folder / inner.run / str(one.began))
                        agent = str(call.get("agent") or "")
                        words, printed = agent_words(call), _output_stream(one)
                        yield AgentStream(inner.run, inner.shown, number, agent, words, one.begin.at, place, printed)

    def _find_inner_steps(self, run: str, step: FoundStep) -> Iterator[FoundStep]:
        """Yield the inner steps of a review, a gate with a fix or a loop."""
        via = next((each.via for each in members(self.log, run) if each.run == step.run), "")
        for address in state_of(self.log, step.run).steps:
            if address.startswith((f"{step.address}/", f"{step.address}@")) and step.nth is None:
                yield FoundStep(step.run, address, f"{via}{address}")

    def _read_stored_lines(self, printed: Stream, after: int) -> Iterator[tuple[int, bytes]]:
        """Read the lines of a stream from a byte on; pieces before that are not opened."""
        offset, rest = 0, b""
        for position, part in enumerate(printed, start=1):
            if offset + part.size <= after:
                offset += part.size
                continue
            data = rest + self.log.get_blob(part.digest)[max(0, after - offset) :]
            offset = max(offset, after) - len(rest)
            end = len(data) if position == len(printed) else data.rfind(b"\n") + 1
            for line in data[:end].splitlines(keepends=True):
                offset += len(line)
                yield offset, self.redactor.data(line.rstrip(b"\r\n"))
            rest = data[end:]
            offset += len(rest)

    def _lines(self, place: Path, after: int) -> Iterator[tuple[int, bytes]]:
        found = self.processes.look(str(place))
        until, offset = self._visible_end(place, found), after
        while offset < until:
            with (place / "stdout").open("rb") as file:
                file.seek(offset)
                data = file.read(min(PIECE, until - offset))
            end = data.rfind(b"\n") + 1 or (len(data) if len(data) == PIECE or isinstance(found, Ended) else 0)
            if not end:
                return
            for line in data[:end].splitlines(keepends=True):
                offset += len(line)
                yield offset, self.redactor.data(line.rstrip(b"\r\n"))

    def _visible_end(self, place: Path, found: Running | Ended | Gone | None) -> int:
        """Return the position up to which a stream may be shown."""
        try:
            size = (place / "stdout").stat().st_size
        except OSError:
            return 0
        if isinstance(found, Running) and self.processes.is_kept(str(place)):
            time.sleep(SETTLED)
            return size
        return size if isinstance(found, Ended) else 0


def _sorter(agent: Agent) -> Callable[[bytes], tuple[TranscriptPart, ...]]:
    """Give what sorts the lines of a call; of an agent that cannot, everything is what it printed."""
    sorts = agent.transcript() if isinstance(agent, HasTranscript) else None
    if sorts is not None:
        return sorts.feed
    reader = agent.lines()
    return lambda line: (TranscriptPart("printed", reader.feed(line).strip() or agent.describe_line(line) or ""),)


def _shortened(part: TranscriptPart) -> str:
    """Give a text, of what a tool answered only the beginning."""
    if part.kind != "tool_result" or len(part.text) <= MAX_RESULT:
        return part.text
    return f"{part.text[:MAX_RESULT]} ... ({len(part.text) - MAX_RESULT} more characters)"


def _find_call(one: Try) -> dict[str, Any] | None:
    call = call_of(one.begin) if isinstance(one.begin, StepBegan) else None
    return call if call is not None and "prompt" in call else None


def _output_stream(one: Try) -> Stream:
    return one.end.printed if isinstance(one.end, StepEnded | QuestionAsked | StepRefused) else ()


def transcript_data(transcripts: Transcripts, call: AgentStream) -> dict[str, Any]:
    """Convert a call with its entries to JSON data."""
    try:
        entries = [{"offset": each.offset, "kind": each.kind, "text": each.text} for each in transcripts.entries(call)]
    except HandrailError as error:
        entries = [{"offset": 0, "kind": "notice", "text": error.message}]
    return {
        "run": call.run,
        "step": call.step,
        "call": call.number,
        "agent": call.words,
        "at": iso(call.at),
        "state": transcripts.ending(call),
        "entries": entries,
    }
