"""A room in which tests are a connected agent: real workflows in a home of their own, a real log, the real tools."""

import asyncio
import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handrail.engine.fold.apply import apply
from handrail.model.history.events import Event
from handrail.model.history.run_state import RunState
from handrail.operations.issue_runs.issue_settings import status_rules
from handrail.operations.issue_runs.start_on_issue import IssueDesk
from handrail.operations.pull.call_context import CallContext
from handrail.operations.runs.prepare import workflows_seen_from
from handrail.ports.log import OnPoint
from handrail.runtime.event_records import decode_event
from handrail.runtime.history import events_of, state_of
from handrail.runtime.run_writer import RunWriter
from handrail.serve.mcp.calls import Calls
from handrail.serve.mcp.tool_result import ToolResult
from handrail.sources.folders import HOME, Folders
from handrail.sources.tiers import Location, here
from handrail.store.signing_keys import keys_in
from handrail.store.sqlite.log import open_log
from handrail.trackers.memory.catalog import MemoryTrackers
from handrail.wiring.machine import this_machine
from handrail.wiring.system import System

HANDRAIL = str(Path(sys.executable).parent / "handrail")
NOTES = "Did what the step asks for."
Json = dict[str, Any]


def definition(*steps: Json, name: str = "sample-flow", **keys: Any) -> Json:
    """A workflow in WorkRail's form."""
    basis: Json = {"id": name, "name": "Sample", "description": "A sample.", "version": "1.0.0"}
    return {**basis, **keys, "steps": list(steps)}


def step(name: str, **keys: Any) -> Json:
    """One step; its prompt is short unless given."""
    given = {} if "promptBlocks" in keys or "templateCall" in keys else {"prompt": f"Do {name}."}
    return {"id": name, "title": f"Title of {name}", **given, **keys}


def loop(name: str, *body: Json, **keys: Any) -> Json:
    """A loop; the keys go into `loop`."""
    settings = {"maxIterations": 5, **keys}
    return {"id": name, "type": "loop", "title": "Again", "loop": settings, "body": list(body)}


def chain(count: int, **keys: Any) -> Json:
    """A workflow of plain steps, one after the other."""
    return definition(*(step(f"step-{number}", **keys) for number in range(1, count + 1)))


def control(decision: str) -> Json:
    """An artifact that decides a loop."""
    return {"kind": "wr.loop_control", "decision": decision}


CONTROL: Json = {"outputContract": {"contractRef": "wr.contracts.loop_control"}}
BY_ARTIFACT: Json = {"kind": "artifact_contract", "contractRef": "wr.contracts.loop_control"}


@dataclass(frozen=True, slots=True)
class Said:
    """What a call was answered."""

    texts: tuple[str, ...]
    data: Json
    is_error: bool = False

    @property
    def text(self) -> str:
        """All items together."""
        return "\n\n".join(self.texts)

    @property
    def token(self) -> str:
        """The token to go on with."""
        return str(self.data["continueToken"])

    @property
    def run(self) -> str:
        return str(self.data["runId"])

    @property
    def pending(self) -> Json:
        """The step that waits."""
        found = self.data["pending"]
        assert found is not None, self.text
        return found

    @property
    def address(self) -> str | None:
        """Where the run stands; None where no step waits for the agent."""
        found = self.data["pending"]
        return None if found is None else str(found["address"])

    @property
    def complete(self) -> bool:
        return bool(self.data["isComplete"])

    @property
    def codes(self) -> list[str]:
        """Codes of what stands in the way."""
        return [each["code"] for each in self.data["blockers"]]

    @property
    def warnings(self) -> list[str]:
        """Codes of what stands in nobody's way."""
        return [each["code"] for each in self.data["warnings"]]

    @property
    def unwarned(self) -> Json:
        """What it says as data, apart from warnings."""
        return {**self.data, "warnings": []}

    @property
    def code(self) -> str:
        """The code of an error; empty where there is none."""
        return str(self.data["code"]) if self.is_error else ""


@dataclass(slots=True)
class Pull:
    """A home, a workspace, a log, and calls of tools in this process."""

    folder: Path
    on_point: OnPoint | None = None
    variables: dict[str, str] = field(default_factory=dict[str, str])
    trackers: MemoryTrackers = field(default_factory=MemoryTrackers)
    system: System = field(init=False)
    calls: Calls = field(init=False)

    def __post_init__(self) -> None:
        # Of its own, whatever lies in the folders above.
        (self.workspace / ".git").mkdir(parents=True, exist_ok=True)
        folders = here(self.workspace, self.environ).folders
        folders.workflows.mkdir(parents=True, exist_ok=True)
        workflows = workflows_seen_from(self.environ, here(self.workspace, self.environ))
        self.system = System(open_log(folders.data, on_point=self.on_point), folders.data, workflows)
        self.calls = Calls(self._desk(folders), patience=0)

    def _desk(self, folders: Folders) -> CallContext:
        def keys() -> tuple[bytes, ...]:
            return keys_in(folders.data)

        clock, seen, agents = self.system.clock, self._seen_from, self.system.agents
        return CallContext(
            self.writer,
            keys(),
            seen,
            lambda _: None,
            this_machine(),
            clock,
            keys_now=keys,
            agents=agents,
            issues=self._issues,
        )

    def _issues(self, place: Location) -> IssueDesk:
        return IssueDesk(self.writer, self.trackers, self.data / "runs", status_rules(place))

    def _seen_from(self, folder: Path) -> Location:
        return here(folder, self.environ)

    @property
    def writer(self) -> RunWriter:
        return self.system.writer

    @property
    def environ(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], HOME: str(self.home), "LOGNAME": "ann", **self.variables}

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def workspace(self) -> Path:
        return self.folder / "work"

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def log(self) -> Any:
        """The log; untyped, since tests look behind it too."""
        return self.system.log

    def close(self) -> None:
        self.system.log.close()

    def again(self) -> "Pull":
        """Open a second context on the same database, as another server would."""
        return Pull(self.folder)

    def add(self, workflow: Json | str, name: str | None = None) -> str:
        """Write a workflow of the user tier, WorkRail's form as a dict, the native one as text; give its name."""
        if isinstance(workflow, str):
            assert name is not None, "a native workflow needs a name"
            path, text = self.home / "workflows" / name / "workflow.yaml", workflow.replace("NAME", name)
        else:
            name = name or str(workflow["id"])
            path, text = self.home / "workflows" / f"{name}.json", json.dumps(workflow)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return name

    def call(self, name: str, **arguments: Any) -> Said:
        """Call a tool; what the engine has to do in between is done here, and the call made again."""
        said = self.call_once(name, arguments)
        for _ in range(20):
            if not said.data.get("working"):
                return said
            self.drive()
            if name == "start_workflow":
                said = self.call_once("continue_workflow", {"continueToken": said.token, "intent": "rehydrate"})
            else:
                said = self.call_once(name, arguments)
        raise AssertionError("the engine never came to an end")

    def call_once(self, name: str, arguments: Json) -> Said:
        """Call a tool, and take the answer as it is."""
        return said_of(asyncio.run(self.calls.call(name, arguments)))

    def drive(self) -> None:
        """Let the engine do what it has to, such as taking up what a person asked for."""
        asyncio.run(self.system.supervisor("room").run_until_idle())

    def start(self, workflow: Json | str, goal: str = "Make it better.", **context: Any) -> Said:
        """Start a workflow: a definition, which is written first, or the name of one that is there."""
        name = workflow if isinstance(workflow, str) else self.add(workflow)
        more = {"context": context} if context else {}
        return self.call("start_workflow", workflowId=name, workspacePath=str(self.workspace), goal=goal, **more)

    def advance(
        self,
        at: Said | str,
        notes: str | None = NOTES,
        artifacts: Iterable[Any] = (),
        context: Mapping[str, Any] | None = None,
    ) -> Said:
        """Complete the step of an answer or a token."""
        return self.call("continue_workflow", **advancing(token_of(at), notes, artifacts, context))

    def rehydrate(self, at: Said | str) -> Said:
        """Look again at where a token stands."""
        return self.call("continue_workflow", continueToken=token_of(at), intent="rehydrate")

    def checkpoint(self, at: Said | str) -> Said:
        """Keep the point of an answer."""
        token = at if isinstance(at, str) else str(at.data["checkpointToken"])
        return self.call("checkpoint_workflow", checkpointToken=token)

    def events(self, run: str) -> list[Event]:
        """Give the events of a run."""
        return [event for _, event in events_of(self.system.log, run)]

    def state(self, run: str) -> RunState:
        return state_of(self.system.log, run)

    def size(self) -> dict[str, int]:
        """Give how many events each run has: what has to stay the same where nothing is to be recorded."""
        return {run: self.system.log.last(run).seq for run in self.system.log.streams()}

    def assert_sound(self) -> None:
        """Every run: replaying gives its state, no outcome stands twice, and the log verifies."""
        for run in self.system.log.streams():
            state: RunState | None = None
            for stored in self.system.log.read(run):
                state = apply(state, decode_event(stored), stored.seq, self.system.log.get_blob)
            assert state == self.state(run)
            ended = [event.began for event in self.events(run) if event.kind == "step_ended"]
            assert len(ended) == len(set(ended)), f"{run} has an outcome twice"
        assert self.system.log.check().is_healthy


def said_of(result: ToolResult) -> Said:
    """Give a result as a client gets it: through JSON."""
    return Said(result.texts, json.loads(json.dumps(result.data)), result.is_error)


def token_of(at: Said | str) -> str:
    """Give the token of an answer."""
    return at if isinstance(at, str) else at.token


def advancing(
    token: str,
    notes: str | None = NOTES,
    artifacts: Iterable[Any] = (),
    context: Mapping[str, Any] | None = None,
) -> Json:
    """Give the arguments by which a step is completed."""
    output: Json = {} if notes is None else {"notesMarkdown": notes}
    output |= {"artifacts": list(artifacts)} if artifacts else {}
    more = {"context": dict(context)} if context else {}
    return {"continueToken": token, "intent": "advance", "output": output, **more}
