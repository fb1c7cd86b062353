"""A room for the real Gemini CLI and opencode: a home of their own, the scripted model, and no way to the network."""

import asyncio
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from handrail.ports.agents import Agent, AgentCall, AgentOutcome
from handrail.ports.processes import Ended, Gone, ProcessSpec
from handrail.processes.local import LocalProcesses
from handrail.testing.models.scripts import Scripts
from handrail.testing.models.server import ModelServer
from support.system_tools import NPM, require

NOWHERE = "http://127.0.0.1:9"
LONG = 110.0
LARGE = 2 << 20


@dataclass(slots=True)
class NpmRoom:
    """Calls a real agent and reads what became of it."""

    root: Path
    agent: Agent
    env: dict[str, str]
    model: ModelServer
    processes: LocalProcesses = field(default_factory=LocalProcesses)
    count: int = 0
    shown: list[str] = field(default_factory=list[str])
    started: list[ProcessSpec] = field(default_factory=list[ProcessSpec])

    @property
    def workspace(self) -> Path:
        folder = self.root / "workspace"
        folder.mkdir(exist_ok=True)
        return folder

    def call(self, script: str, **changes: object) -> AgentCall:
        asked = {"run": "r", "address": "one", "turn": 1, "prompt": f"[[s:{script}]] do it", "access": "full"}
        whole = {**asked, "workspace": str(self.workspace), **changes}
        return AgentCall(**whole)  # pyright: ignore[reportArgumentType] - the values of a test

    def start(self, call: AgentCall) -> ProcessSpec:
        self.count += 1
        folder = self.root / f"call-{self.count}"
        folder.mkdir()
        launch = self.agent.launch(call, str(folder / "input"))
        env = tuple({**self.env, **dict(launch.env)}.items())
        spec = ProcessSpec(
            f"r:{self.count}", launch.argv, call.workspace, env, str(folder / "process"), stdin=launch.stdin
        )
        self.processes.start(spec)
        self.started.append(spec)
        return spec

    def play(self, script: str, **changes: object) -> AgentOutcome:
        spec = self.start(self.call(script, **changes))
        ended = asyncio.run(self.processes.wait(spec.folder, LONG))
        assert isinstance(ended, Ended | Gone), ended
        return self.read(spec, ended)

    def read(self, spec: ProcessSpec, ended: Ended | Gone) -> AgentOutcome:
        raw = self.processes.read_output(spec.folder, "stdout", 1 << 26, tail=False).splitlines()
        reader = self.agent.lines()
        self.shown = [text for line in raw if (text := reader.feed(line))]
        return reader.outcome(ended)

    def end(self, spec: ProcessSpec) -> AgentOutcome:
        return self.read(spec, asyncio.run(self.processes.end(spec.folder, (10.0, 5.0))))

    def until(self, path: Path) -> None:
        asyncio.run(_appears(path))

    def escaped(self) -> tuple[int, ...]:
        """The processes of the newest call that still live."""
        return tuple(self.processes.find_by_marker(self.started[-1].mark))


async def _appears(path: Path) -> None:
    async with asyncio.timeout(LONG):
        while not path.exists():
            await asyncio.sleep(0.05)


def rooms(agent: Agent, name: str, scripts: Scripts, monkeypatch: pytest.MonkeyPatch) -> Iterator[NpmRoom]:
    """Make a room for one agent."""
    require(name)
    programs = os.environ[NPM]
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    monkeypatch.setenv("PATH", path)
    monkeypatch.delenv("OPENCODE_CONFIG_CONTENT", raising=False)
    with (
        TemporaryDirectory(prefix="handrail-npm-", dir="/var/tmp", ignore_cleanup_errors=True) as folder,
        ModelServer(scripts) as model,
    ):
        home = Path(folder) / "home"
        home.mkdir()
        env = {"PATH": path, "HOME": str(home), "TMPDIR": folder, "NO_PROXY": "127.0.0.1,localhost"}
        env |= {"HTTP_PROXY": NOWHERE, "HTTPS_PROXY": NOWHERE, "no_proxy": "127.0.0.1,localhost"}
        room = NpmRoom(Path(folder), agent, env, model)
        yield room
        for spec in room.started:
            asyncio.run(room.processes.end(spec.folder, (5.0, 5.0)))


def settle_gemini(room: NpmRoom) -> None:
    """Write the settings that a user of Gemini CLI has."""
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"maxAttempts": 2},
    }
    _write(Path(room.env["HOME"]) / ".gemini" / "settings.json", settings)
    room.env |= {"GEMINI_API_KEY": "no-key-at-all", "GOOGLE_GEMINI_BASE_URL": room.model.url}


def settle_opencode(room: NpmRoom) -> None:
    """Write the settings that a user of opencode has: a provider, and a model with a price."""
    model = {"cost": {"input": 1, "output": 10}, "limit": {"context": 100_000, "output": 10_000}}
    options = {"baseURL": f"{room.model.url}/v1", "apiKey": "no-key-at-all"}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m": model}}
    settings = {"provider": {"local": provider}, "model": "local/m", "small_model": "local/m", "share": "disabled"}
    _write(Path(room.env["HOME"]) / ".config" / "opencode" / "opencode.json", settings)
    room.env |= {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"}


def _write(path: Path, settings: object) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(settings))
