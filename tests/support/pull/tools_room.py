"""A repository in which runs are driven by processes of their own, with agents that call tools of Handrail."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from handrail.model.history.events import ToolCalled
from handrail.model.history.run_state import RunState
from handrail.model.tokens import NO_BRANCH, Token, TokenKind, mint
from handrail.operations.step_tools.call import AgentCallHandler, ToolAnswer
from handrail.runtime.history import events_of, state_of
from handrail.sources.tiers import here
from handrail.store.signing_keys import keys_in
from handrail.store.sqlite.log import SqliteLog, open_log
from handrail.wiring.machine import this_machine
from handrail.wiring.system import make_writer

HANDRAIL = str(Path(sys.executable).with_name("handrail"))
LONG = 60.0
SMALL = """\
name: small
description: A small one.
input:
  task: string
steps:
  - {name: tiny, prompt: "Do {{ task }}.", output: made}
"""


def tool(name: str, *, expect: str = "", save: str = "", **given: Any) -> dict[str, Any]:
    """A call of a tool in a script."""
    more = {"expect": expect, "save": save}
    return {"name": name, "input": given, **{key: value for key, value in more.items() if value}}


@dataclass(slots=True)
class ToolsRoom:
    """A repository with two workflows: `work`, whose one step may use tools, and `small`."""

    root: Path
    started: list["subprocess.Popen[bytes]"] = field(default_factory=list["subprocess.Popen[bytes]"])

    def __post_init__(self) -> None:
        self.repo.mkdir()
        self.person.mkdir()
        for words in ("init -q -b main", "config user.name Ann", "config user.email ann@example.org"):
            subprocess.run(["git", *words.split()], cwd=self.repo, check=True, timeout=LONG)
        self.workflow("small", SMALL)

    @property
    def repo(self) -> Path:
        return self.root / "shop"

    @property
    def person(self) -> Path:
        return self.root / "person"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def environ(self) -> dict[str, str]:
        own = {"HOME": str(self.person), "HANDRAIL_HOME": str(self.home), "LOGNAME": "ann"}
        return {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "HANDRAIL_DRIVER_IDLE": "0.2", **own}

    def workflow(self, name: str, text: str) -> None:
        """Write a workflow, commit and trust it."""
        folder = self.repo / ".handrail" / "workflows" / name
        folder.mkdir(parents=True)
        (folder / "workflow.yaml").write_text(text)
        for words in ("add -A", f"commit -qm {name}"):
            subprocess.run(["git", *words.split()], cwd=self.repo, check=True, timeout=LONG)
        self.handrail("trust", str(folder), "--yes")

    def work(self, tools: str = "true", **more: str) -> None:
        """Write the workflow `work`."""
        keys = "".join(f"    {name}: {value}\n" for name, value in more.items())
        step = f"  - name: do\n    prompt: Do it.\n    handrail_tools: {tools}\n    output: done\n{keys}"
        self.workflow("work", f"name: work\ndescription: Work with tools.\nsteps:\n{step}")

    def handrail(self, *words: str, code: int = 0) -> str:
        """Call the command line."""
        done = subprocess.run(
            [HANDRAIL, *words],
            cwd=self.repo,
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=LONG,
        )
        assert done.returncode == code, f"{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def run(self, code: int = 0, **script: Any) -> str:
        """Run `work` to where it ends or needs somebody."""
        return self.handrail(*self._words(script), code=code)

    def begin(self, **script: Any) -> None:
        """Begin a run of `work`."""
        self._popen(*self._words(script))

    def _words(self, script: dict[str, Any]) -> tuple[str, ...]:
        path = self.root / "script.yaml"
        path.write_text(json.dumps(script))
        return ("run", "work", "--agent", "scripted", "--script", str(path))

    def go_on(self) -> None:
        """Let another process drive the run."""
        self._popen("drive")

    def _popen(self, *words: str) -> None:
        quiet = subprocess.DEVNULL
        child = subprocess.Popen([HANDRAIL, *words], cwd=self.repo, env=self.environ, stdin=quiet, stdout=quiet)
        self.started.append(child)

    def kill(self) -> None:
        """Kill whoever drives."""
        self.started[-1].send_signal(signal.SIGKILL)
        self.started[-1].wait(LONG)

    def close(self) -> None:
        (self.root / "go").touch()
        for each in self.started:
            each.wait(LONG)

    def log(self) -> "closing[SqliteLog]":
        return closing(open_log(self.home / "data"))

    def state(self, run: str = "work-1") -> RunState:
        with self.log() as log:
            return state_of(log, run)

    def events(self, run: str = "work-1") -> list[Any]:
        with self.log() as log:
            return [event for _, event in events_of(log, run)] if log.last(run).seq else []

    def called(self) -> list[ToolCalled]:
        """The calls of tools that were recorded."""
        return [event for event in self.events() if isinstance(event, ToolCalled)]

    def calls(self) -> list[tuple[str, bool]]:
        return [(each.tool, each.success) for each in self.called()]

    def until(self, holds: Callable[[], bool]) -> None:
        ends = time.monotonic() + LONG
        while not holds():
            assert time.monotonic() < ends, "it never came to hold"
            time.sleep(0.02)

    def token(self, kind: TokenKind = "agent", run: str = "work-1", seq: int = 0) -> str:
        """A token for the step that is pending."""
        pending = self.state(run).pending
        number = seq or (0 if pending is None else pending.seq)
        return mint(Token(kind, run, number, NO_BRANCH), keys_in(self.home / "data")[0])

    def call(self, name: str, token: str = "", problem: str = "", **given: Any) -> ToolAnswer:
        """Call a tool in this process, as a server that was just started."""
        with self.log() as log:
            ctx = AgentCallHandler(
                make_writer(log),
                partial(keys_in, self.home / "data"),
                token or self.token(),
                lambda folder: here(folder, self.environ),
                this_machine(),
            )
            return asyncio.run(ctx.call(name, given, problem))
