"""Agents and commands that work in this process: what they receive is recorded, what they do is said by a test."""

import json
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from handrail.agents.registry import BuiltInCatalog, KnownAgents
from handrail.engine.contracts.example import minimal_example
from handrail.ports.agent_definitions import LoadedDefinition
from handrail.ports.agents import Abilities, Agent, AgentCall, AgentOutcome, Launch, OutcomeStatus, Usage
from handrail.ports.processes import Ended, Gone, ProcessSpec
from handrail.testing.memory_processes import ScriptedCommand

HANG = "hang-for-ever"
"""A command that holds this word does not end."""
WORD = "performer"
EVERYTHING = Abilities(
    tools=True, single_turn=True, schema=True, resume=True, system_prompt=True, cost=True, mcp=True, streams=True
)


@dataclass(frozen=True, slots=True)
class Play:
    """What an agent does in one call."""

    say: str = "Done."
    output: Any = None
    """A structured result, where it gives one."""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """What it writes into the work tree."""
    cost: float | None = 0.0
    tokens: int = 0
    question: str = ""
    status: OutcomeStatus = "ok"
    hangs: bool = False
    seconds: float = 0.0
    """How long it takes."""
    artifacts: tuple[Any, ...] = ()
    """What it gives beside its notes, in a guided step."""
    context: Mapping[str, Any] = field(default_factory=dict[str, Any])


DONE = Play()
Plays: TypeAlias = Mapping[str, Play | list[Play]]
"""What agents do, by the address of the step: always the same, or one after the other and then the last again."""


@dataclass(slots=True)
class Performer:
    """Plays every agent, and runs every command at once."""

    plays: Plays = field(default_factory=dict[str, "Play | list[Play]"])
    calls: list[AgentCall] = field(default_factory=list[AgentCall])
    agents: list[str] = field(default_factory=list[str])
    """The names of the agents that were called, in order."""
    pass_time: Callable[[float], None] = lambda _: None
    willing: bool = False
    """Whether commands only pass, and agents give the least that is asked of them where no play says otherwise."""

    def __post_init__(self) -> None:
        self.plays = {name: each if isinstance(each, Play) else list(each) for name, each in self.plays.items()}

    def play(self, address: str) -> Play:
        """Choose what is done in the next call of a step."""
        found = self.plays.get(address, DONE)
        if isinstance(found, Play):
            return found
        return found.pop(0) if self.has_more(address) else found[0]

    def has_more(self, address: str) -> bool:
        """Tell whether the next call of a step would be another one than the last."""
        found = self.plays.get(address)
        return isinstance(found, list) and len(found) > 1

    def __call__(self, spec: ProcessSpec) -> ScriptedCommand:
        """Do what a process would do."""
        if WORD not in spec.argv:
            return ScriptedCommand(b"[]\n") if self.willing else _ran(spec)
        call = self.calls[int(spec.argv[-1])]
        play = self.play(call.address)
        if self.willing and play is DONE and call.schema is not None:
            play = Play(output=minimal_example(call.schema), artifacts=tuple(_wanted(call.schema)))
        self.pass_time(play.seconds)
        write_files(Path(spec.cwd), play.files)
        said = {"text": play.say, "output": _result(play, call), "cost": play.cost, "tokens": play.tokens}
        line = {**said, "question": play.question, "status": play.status, "session": f"talk-{spec.argv[-1]}"}
        return ScriptedCommand(json.dumps(line).encode() + b"\n", exit_code=None if play.hangs else 0)


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write texts by their paths."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")


def guided_output(play: Play) -> dict[str, Any]:
    """Give what an agent hands in for a guided step."""
    return {"notesMarkdown": play.say, "artifacts": list(play.artifacts), "context": dict(play.context)}


def _wanted(schema: Any) -> Iterator[Any]:
    """Give each artifact that a schema of `{result, artifacts}` asks for, every judgment at its best level."""
    asked = schema.get("properties", {})
    items = asked.get("artifacts", {}).get("items") if "result" in asked else None
    forms: list[Any] = [] if items is None else items.get("anyOf", [items])
    for form in forms:
        made: Any = minimal_example(form)
        for name, each in made.get("dimensions", {}).items():
            levels = form["properties"]["dimensions"]["properties"][name]["properties"]["level"]["enum"]
            each["level"] = levels[-1]
        yield made


def _result(play: Play, call: AgentCall) -> Any:
    asked: Any = call.schema if isinstance(call.schema, dict) else {}
    told = json.dumps(asked.get("properties"))
    if "notesMarkdown" in told:
        return guided_output(play)
    if not play.artifacts or "wr." not in told:
        return play.output
    result: Any = minimal_example(asked["properties"]["result"])
    return {"result": result, "artifacts": list(play.artifacts)}


def _ran(spec: ProcessSpec) -> ScriptedCommand:
    if HANG in spec.argv[-1]:
        return ScriptedCommand(exit_code=None)
    done = subprocess.run(spec.argv, cwd=spec.cwd, env=dict(spec.env), capture_output=True, check=False)
    return ScriptedCommand(done.stdout, done.stderr, done.returncode)


@dataclass(slots=True)
class PlayedLines:
    """Reads the one line of a played call."""

    said: dict[str, Any] = field(default_factory=dict[str, Any])

    def feed(self, line: bytes) -> str:
        """Take the line."""
        self.said = json.loads(line)
        return ""

    def outcome(self, ended: Ended | Gone) -> AgentOutcome:
        """Say how the call ended."""
        if not self.said:
            return AgentOutcome(status="crashed", message=f"it said nothing: {ended}")
        return AgentOutcome(
            status=self.said["status"],
            text=self.said["text"],
            output=self.said["output"],
            has_output=self.said["output"] is not None,
            session=self.said["session"],
            usage=Usage(input_tokens=self.said["tokens"]),
            cost=self.said["cost"],
            question=self.said["question"],
        )


@dataclass(slots=True)
class PlayedAgent:
    """An `Agent` of any name that the performer plays."""

    name: str
    performer: Performer
    can: Abilities = EVERYTHING
    variables: tuple[str, ...] = ()

    def launch(self, call: AgentCall, folder: str) -> Launch:  # noqa: ARG002 - it needs no files
        """Record the call."""
        self.performer.calls.append(call)
        self.performer.agents.append(self.name)
        return Launch((WORD, str(len(self.performer.calls) - 1)))

    def lines(self) -> PlayedLines:
        """Make a reader for one call."""
        return PlayedLines()

    def describe_line(self, line: bytes) -> str | None:  # noqa: ARG002 - nobody looks
        """Show nothing."""
        return None


class PlayedCatalog(BuiltInCatalog):
    """Every agent that is known anyhow, each played by the performer."""

    def __init__(self, performer: Performer, here: tuple[str, ...]) -> None:
        self._performer, self._here = performer, here

    def find(self, name: str) -> Agent:
        """Find an agent."""
        return self._table().find(name)

    def define(self, definitions: Iterable[LoadedDefinition]) -> KnownAgents:
        """Give these and the defined ones."""
        return self._table(tuple(each.name for each in definitions))

    def login_hint(self, name: str, argv: tuple[str, ...], environ: Mapping[str, str]) -> str:  # noqa: ARG002
        """Everybody is logged in."""
        return ""

    def _table(self, more: tuple[str, ...] = ()) -> KnownAgents:
        def make(name: str) -> Callable[[], Agent]:
            return lambda: PlayedAgent(name, self._performer)

        return KnownAgents({name: make(name) for name in (*self._here, *more)})
