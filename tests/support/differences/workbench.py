"""Runs a workflow in this process and says what came of it: what agents received, what was executed, what people read.

The log and the processes are those in memory; the rest is what a real run has: files on the disk, the preparation of
`handrail run`, the handlers of every effect, the tools that a connected agent calls.
"""

import asyncio
import json
import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

from handrail.cli.live.question import Question
from handrail.cli.look.show import step_lines
from handrail.cli.render.run_end import final_lines
from handrail.model.diagnostics import Report
from handrail.model.history.events import Decision, Event
from handrail.model.history.run_lines import is_run
from handrail.model.history.run_state import RunState
from handrail.operations.agents.configured_agents import ConfiguredAgents
from handrail.operations.driving.notices import Notifier
from handrail.operations.pull.call_context import CallContext
from handrail.operations.runs import lifecycle as runs
from handrail.operations.runs.prepare import RunOptions, prepare, workflows_seen_from
from handrail.operations.views.event_sentences import address_of, event_sentence
from handrail.operations.views.explain import explain
from handrail.operations.views.history import history, step_details
from handrail.operations.views.questions import find_question
from handrail.operations.views.run_document import run_document
from handrail.ports.agents import AgentCall
from handrail.ports.machine import Machine
from handrail.ports.notices import Notice, NoticeTarget
from handrail.runtime.driver import Handlers
from handrail.runtime.event_records import HeldBlobs
from handrail.runtime.handlers.agents.handler import AgentHandler
from handrail.runtime.handlers.agents.host import AgentHost
from handrail.runtime.handlers.agents.live_messages import messages_since
from handrail.runtime.handlers.agents.step_tools import StepToolSetup
from handrail.runtime.handlers.children import ChildHandler
from handrail.runtime.handlers.commands.handler import CommandHandler
from handrail.runtime.handlers.commands.start_command import CommandStarter
from handrail.runtime.handlers.items import ItemHandler
from handrail.runtime.handlers.proofs.handler import ProofHandler
from handrail.runtime.handlers.steps import StepHandler
from handrail.runtime.handlers.trackers.handler import TrackerHandler
from handrail.runtime.handlers.trees import TreeHandler
from handrail.runtime.history import events_of, state_of
from handrail.runtime.local.supervisor import Supervisor
from handrail.serve.mcp.calls import Calls
from handrail.sources.config.notify import read_notify
from handrail.sources.folders import HOME
from handrail.sources.tiers import Location, here
from handrail.store.memory.log import MemoryWorld
from handrail.testing.memory_environments import MemoryEnvironment, MemoryEnvironments
from handrail.testing.memory_host import MemorySandbox, MemoryWindows
from handrail.testing.memory_processes import MemoryProcesses
from handrail.wiring.machine import this_machine
from handrail.wiring.session import Session
from handrail.wiring.system import FLOWS, ShellCommands, System
from support.differences.performers import WORD, Performer, Play, PlayedCatalog, Plays, guided_output, write_files
from support.pull.room import Said, said_of

Driver: TypeAlias = Literal["launched", "connected"]
"""Who performs the steps of agents: agents that Handrail starts, or one that is connected and walks the workflow."""
WIDTH = 120
MOST_CALLS = 60
KEYS = (b"k" * 32,)
AGENTS = ("claude", "codex", "gemini")


@dataclass(frozen=True, slots=True)
class Trace:
    """What came of a run."""

    run: str
    bench: "Workbench"
    answers: tuple[Said, ...] = ()
    """What a connected agent was answered, call after call."""

    @property
    def state(self) -> RunState:
        return state_of(self.bench.log, self.run)

    @property
    def status(self) -> str:
        return self.state.status

    @property
    def calls(self) -> list[AgentCall]:
        """The calls of launched agents."""
        return self.bench.performer.calls

    @property
    def prompts(self) -> list[str]:
        """What agents received, in order."""
        return [each.text for each in self.answers] if self.answers else [each.prompt for each in self.calls]

    @property
    def prompt(self) -> str:
        """All that agents received."""
        return "\n".join(self.prompts)

    @property
    def addresses(self) -> list[str]:
        """The steps that agents were called for, in order."""
        if not self.answers:
            return [each.address for each in self.calls]
        found = [each.address for each in self.answers]
        return [name for at, name in enumerate(found) if name and name != (found[at - 1] if at else None)]

    @property
    def commands(self) -> list[str]:
        """The commands that were executed."""
        return [each.argv[-1] for each in self.bench.processes.started if WORD not in each.argv]

    @property
    def environments(self) -> list[dict[str, str]]:
        """The variables of each of them."""
        return [dict(each.env) for each in self.bench.processes.started if WORD not in each.argv]

    @property
    def lines(self) -> list[str]:
        """What a person reads about the run, its steps and what it asks."""
        bench = self.bench
        happened = [
            f"{address_of(event)}: {said}"
            for _, _, event in history(bench.log, self.run)
            if (said := event_sentence(event)) is not None
        ]
        reasons = [f"{each.address}: {each.what}" for each in explain(bench.log, self.run)]
        end = final_lines(bench.session, self.run, run_document(bench.log, self.run))
        shown = [line for name in self.state.steps for line in self.show(name).splitlines()]
        asks = find_question(bench.log, self.run)
        asked = [] if asks is None else Question(bench.session, *asks).lines(WIDTH)
        return [*happened, *reasons, *shown, *end, *asked]

    @property
    def told(self) -> str:
        """The same as one text."""
        return "\n".join(self.lines)

    @property
    def events(self) -> list[Event]:
        return [event for _, event in events_of(self.bench.log, self.run)]

    def show(self, step: str) -> str:
        """Give what `handrail show RUN STEP` prints."""
        return "\n\n".join(step_lines(each) for each in step_details(self.bench.log, self.run, step))

    def file(self, name: str) -> str:
        """Read a file of the work tree; empty where there is none."""
        path = Path(self.state.workspace) / name
        return path.read_text("utf-8") if path.exists() else ""

    def answer(self, decision: Decision, feedback: str = "") -> "Trace":
        """Answer what the run asks for approval, as a person, and drive on."""
        runs.answer(self.bench.system.writer, self.run, decision, "person:ann", feedback)
        self.bench.drive()
        return self

    def resume(self) -> "Trace":
        """Resume the run, as a person, and drive on."""
        runs.resume(self.bench.system.writer, self.run, "person:ann")
        self.bench.drive()
        return self


@dataclass(slots=True)
class Workbench:
    """One machine in memory with a folder on the disk; make one for each run."""

    folder: Path
    driver: Driver = "launched"
    plays: Plays = field(default_factory=dict[str, "Play | list[Play]"])
    environment: MemoryEnvironment = field(default_factory=MemoryEnvironment)
    config: str = ""
    """The repository's `.handrail/config.toml`."""
    user_config: str = ""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """Files of the repository."""
    workflows: Mapping[str, str] = field(default_factory=dict[str, str])
    """Workflows that steps may call."""
    prompts: Mapping[str, str] = field(default_factory=dict[str, str])
    beside: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further files of the workflow's folder."""
    git: bool = False
    """Whether the run gets a worktree of a real repository; else it works in a plain folder."""
    agent: str = "claude"
    willing: bool = False
    """Whether commands only pass, and agents give the least that is asked of them."""
    here: tuple[str, ...] = AGENTS
    """The agents that are installed."""
    now: float = field(default_factory=time.time)
    performer: Performer = field(init=False)
    processes: MemoryProcesses = field(init=False)
    sandbox: MemorySandbox = field(default_factory=MemorySandbox)
    windows: MemoryWindows = field(default_factory=MemoryWindows)
    notices: list[tuple[NoticeTarget, Notice]] = field(default_factory=list[tuple[NoticeTarget, Notice]])
    """Whom the runs told what they need."""
    system: System = field(init=False)
    world: MemoryWorld = field(init=False)
    """The storage of the log, of which other processes may open a handle."""
    _desk: CallContext | None = None

    def __post_init__(self) -> None:
        self.performer = Performer(dict(self.plays), pass_time=self._pass_time, willing=self.willing)
        self.processes = MemoryProcesses(self.performer)
        self.work.mkdir(parents=True)
        trust = f"[trust]\nrepositories = [{json.dumps(str(self.work))}]\n"
        write_files(self.home, {"config.toml": trust + self.user_config})
        write_files(self.work, {**self.files, ".handrail/config.toml": self.config})
        if self.git:
            self._begin_repository()
        else:
            (self.work / ".git").mkdir()
        variables = {"PATH": os.environ["PATH"], "HOME": str(self.folder), **self.environment.given}
        environments = MemoryEnvironments(others=replace(self.environment, given=variables))
        seen = workflows_seen_from(self.environ, self.place)
        self.world = MemoryWorld(self.clock)
        log = self.world.open()
        agents = ConfiguredAgents(self.machine.agents, self.place.folders, self.work)
        self.system = System(
            log, self.data, seen, self.clock, environments=environments, agents=agents, machine=self.machine
        )

    def _begin_repository(self) -> None:
        for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "Start")):
            self.call_git(*words)

    def call_git(self, *words: str) -> None:
        """Call git in the checkout."""
        subprocess.run(["git", *words], cwd=self.work, env=self.environ, check=True, capture_output=True)

    @property
    def work(self) -> Path:
        return self.folder / "shop"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def environ(self) -> dict[str, str]:
        known = {"GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.org"}
        known |= {name.replace("AUTHOR", "COMMITTER"): value for name, value in known.items()}
        own = {HOME: str(self.home), "HOME": str(self.folder), "LOGNAME": "ann", "GIT_CONFIG_NOSYSTEM": "1"}
        return {"PATH": os.environ["PATH"], **own, **known}

    @property
    def place(self) -> Location:
        return here(self.work, self.environ)

    @property
    def machine(self) -> Machine:
        """This machine, with what is played in the place of its processes."""
        catalog = PlayedCatalog(self.performer, self.here)
        return replace(this_machine(), processes=self.processes, agents=catalog, sandbox=self.sandbox)

    @property
    def log(self) -> Any:
        return self.system.log

    @property
    def session(self) -> Session:
        return Session(self.place, self.system)

    def clock(self) -> float:
        return self.now

    def _pass_time(self, seconds: float) -> None:
        self.now += seconds

    def run(self, text: str, *inputs: str, task: str = "Make it better.", name: str = "case") -> Trace:
        """Run a workflow as far as it goes without a person."""
        name = self.add(text, name)
        for other, content in self.workflows.items():
            self.add(content, other)
        return self._walk(name, inputs, task) if self.driver == "connected" else self._launch(name, inputs, task)

    def add(self, text: str, name: str = "case") -> str:
        """Write a workflow of the user, JSON by its id; give its name."""
        is_json = text.lstrip().startswith("{")
        name = str(json.loads(text)["id"]) if is_json else name
        folder = self.home / "workflows" / name
        main = f"workflow.{'json' if is_json else 'yaml'}"
        prompts = {f"prompts/{each}.md": prompt for each, prompt in self.prompts.items()}
        write_files(folder, {main: text, **prompts, **self.beside})
        return name

    def _launch(self, name: str, inputs: tuple[str, ...], task: str) -> Trace:
        folder = None if self.git else str(self.work)
        wanted = RunOptions(name, task, inputs, folder, by="person:ann", agent=self.agent)
        run = runs.start(self.system.writer, prepare(self.machine, self.place, wanted).request)
        self.drive()
        return Trace(run, self)

    def _walk(self, name: str, inputs: tuple[str, ...], task: str) -> Trace:
        """Be the connected agent until nothing is asked of it any more."""
        given = {"workflowId": name, "workspacePath": str(self.work), "goal": task}
        context = {name: value for name, _, value in (each.partition("=") for each in inputs)}
        said = self.call("start_workflow", **given, **({"context": context} if context else {}))
        assert not said.is_error, said.text
        answers = [said]
        while not said.complete and said.address and len(answers) < MOST_CALLS:
            has_more = self.performer.has_more(said.address)
            play = self.performer.play(said.address)
            self._pass_time(play.seconds)
            write_files(Path(state_of(self.log, said.run).workspace), play.files)
            output = guided_output(play) if play.output is None else {"notesMarkdown": play.say, "result": play.output}
            more = output.pop("context", {})
            arguments = {"continueToken": said.token, "intent": "advance", "output": output}
            said = self.call("continue_workflow", **arguments, **({"context": more} if more else {}))
            assert not said.is_error, said.text
            answers.append(said)
            if said.data.get("kind") == "blocked" and not has_more:
                break
        return Trace(answers[0].run, self, tuple(answers))

    def call(self, name: str, **arguments: Any) -> Said:
        """Call a tool of connected agents; what the engine has to do in between is done here."""
        said = self._call_once(name, arguments)
        for _ in range(20):
            if not said.data.get("working"):
                return said
            self.drive()
            if name == "start_workflow":
                name, arguments = "continue_workflow", {"continueToken": said.token, "intent": "rehydrate"}
            said = self._call_once(name, arguments)
        raise AssertionError("the engine never came to an end")

    def _seen_from(self, folder: Path) -> Location:
        return here(folder, self.environ)

    def _call_once(self, name: str, arguments: dict[str, Any]) -> Said:
        if self._desk is None:
            agents = self.system.agents
            writer, machine = self.system.writer, self.machine
            self._desk = CallContext(writer, KEYS, self._seen_from, lambda _: None, machine, self.clock, agents=agents)
        return said_of(asyncio.run(Calls(self._desk, patience=0).call(name, arguments)))

    def drive(self) -> None:
        """Drive all runs until none can move without somebody; time passes where one waits for it."""
        for _ in range(20):
            asyncio.run(self._supervisor().run_until_idle())
            due = [
                until
                for run in filter(is_run, self.log.streams())
                if (until := _waits(state_of(self.log, run))) is not None
            ]
            if not due:
                return
            self.now = max(self.now, *due)

    def _supervisor(self) -> Supervisor:
        system, folder = self.system, self.data / "runs"
        starts = CommandStarter(self.processes, ShellCommands(), system.environments)
        trees = TreeHandler(system.workspaces, starts, folder, self.clock)
        commands = CommandHandler(starts, folder, self.clock, trees.restore)
        tooling = StepToolSetup(system.log, lambda: KEYS, {})
        host = AgentHost(self.sandbox, self.windows, self.machine.agents.config_folders)
        said = partial(messages_since, system.log)
        agents = AgentHandler(
            *(starts, system.agents, HeldBlobs(system.log), folder, self.clock, trees.restore, host, tooling, said)
        )
        steps = StepHandler(
            *(commands, agents, trees, ProofHandler(starts, folder)),
            make_items=lambda: ItemHandler(system.log, system.environments, system.workspaces, self.clock),
            make_trackers=lambda: TrackerHandler(replace(system.opener, clock=self.clock), system.issue_creator),
        )
        children = ChildHandler(system.log, system.environments, system.workflows, self.clock)
        handlers = Handlers(system.environments, commands, children, FLOWS, steps)
        supervisor = Supervisor(system.log, handlers, self.clock, "me")
        setting = read_notify(self.place.folders, Report())
        supervisor.announce = Notifier(system.log, system.writer, setting, self._note).announce
        return supervisor

    def _note(self, target: NoticeTarget, notice: Notice) -> tuple[str, ...]:
        self.notices.append((target, notice))
        return ()


def _waits(state: RunState) -> float | None:
    """Until when a run waits for time alone to pass."""
    return state.until if state.reason in ("timer", "quota") and state.status == "waiting" else None
