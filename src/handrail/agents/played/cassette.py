"""The cassette agent: replays a recorded agent as a real process; the recorded agent's own reader reads it."""

from dataclasses import replace

from handrail.agents.json_lines import read_line, text
from handrail.agents.played.files import EVERYTHING, play, read_cassette
from handrail.authoring.scripts.cassette import HEAD, RecordedCall, comparable, drift
from handrail.errors import UsageError
from handrail.ports.agents import (
    CASSETTE,
    Abilities,
    Agent,
    AgentCall,
    AgentOutcome,
    CallProgress,
    Launch,
    Lines,
    progress_of,
)
from handrail.ports.processes import Ended, Gone


class CassetteAgent:
    """An `Agent` that repeats what other agents did."""

    @property
    def name(self) -> str:
        """Its name in workflows."""
        return CASSETTE

    @property
    def can(self) -> Abilities:
        """Everything that the recorded agents may have supported."""
        return EVERYTHING

    @property
    def variables(self) -> tuple[str, ...]:
        """It has no vendor."""
        return ()

    def launch(self, call: AgentCall, folder: str) -> Launch:
        """Find the recorded call, write it to `folder`, and build the command that plays it."""
        path = call.options.get("script")
        if not path:
            raise UsageError("the cassette agent needs a cassette", next_step="add `--script FILE`")
        cassette = read_cassette(path)
        recorded = cassette.find(call.run, call.address, call.turn)
        where = drift(comparable(recorded.prompt, cassette.run), comparable(call.prompt, call.run))
        strict = bool(where) and cassette.strict
        task = _task(recorded, {"type": HEAD, "agent": recorded.agent, "drift": where, "strict": strict})
        return play("cassette_program", task, call, folder, call.workspace)

    def lines(self) -> "CassetteLines":
        """Return a reader for one call."""
        return CassetteLines()

    def describe_line(self, line: bytes) -> str | None:
        """Describe what a line shows, by whichever agent understands it."""
        return next((said for each in _recordable() if (said := each.describe_line(line)) is not None), None)


class CassetteLines:
    """Passes the lines to the reader of the agent that was recorded."""

    def __init__(self) -> None:
        self._reader: Lines | None = None
        self._drift = ""
        self._strict = False

    def feed(self, line: bytes) -> str:
        """Read one line; return what to show of it on the screen, or an empty text."""
        if self._reader is not None:
            return self._reader.feed(line)
        said = read_line(line)
        if said.get("type") == HEAD:
            self._reader = _reader_of(text(said, "agent"))
            self._drift, self._strict = text(said, "drift"), said.get("strict") is True
        return f"warning: {self._drift}" if self._drift else ""

    def outcome(self, ended: Ended | Gone) -> AgentOutcome:
        """Return how the recorded call ended; under `--strict` a prompt that differs is a failure."""
        if self._strict:
            why = self._drift or "the prompt differs from the recorded one"
            return AgentOutcome(status="api_error", message=why, drift=why)
        if self._reader is None:
            return AgentOutcome(status="crashed", message="the recorded call could not be replayed; see its stderr")
        return replace(self._reader.outcome(ended), drift=self._drift)

    def read_progress(self) -> CallProgress:
        """Return what the recorded agent's lines show."""
        return CallProgress() if self._reader is None else progress_of(self._reader)


def _task(recorded: RecordedCall, head: dict[str, object]) -> dict[str, object]:
    if head["strict"]:
        return {"head": head, "lines": [], "patch": "", "exit_code": 1, "signal": None}
    return {
        "head": head,
        "lines": recorded.lines,
        "patch": recorded.patch,
        "exit_code": recorded.exit_code,
        "signal": recorded.signal,
    }


def _reader_of(name: str) -> Lines | None:
    """Return the reader of the agent that was recorded; None where that is not known here."""
    known = {each.name: each for each in _recordable()}
    return known[name].lines() if name in known else None


def _recordable() -> tuple[Agent, ...]:
    from handrail.agents.registry import BUILT_IN, KnownAgents  # noqa: PLC0415 (the registry names this agent too)

    known = KnownAgents()
    return tuple(known.find(name) for name in BUILT_IN if name != CASSETTE)
