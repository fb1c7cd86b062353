"""A repository with flows in it, and whoever drives them."""

import asyncio
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from handrail.model.history.run_state import RunState
from handrail.operations.runs import lifecycle as runs
from handrail.operations.runs.prepare import RunOptions, prepare, workflows_seen_from
from handrail.sources.tiers import here
from handrail.sources.trust.store import TrustStore
from handrail.sources.workflow_snapshot import take
from handrail.wiring.machine import this_machine
from handrail.wiring.system import System
from support.runtime.background_home import Home, home_in
from support.runtime.room import LONG, until


@dataclass(frozen=True, slots=True)
class Flows:
    """A repository with a flow in it."""

    home: Home

    def start(self, source: str, *inputs: str) -> str:
        """Write a flow, trust it, and start a run of it."""
        self.write(source)
        return self.start_again(RunOptions("flowing", inputs=inputs, folder=str(self.home.shop)))

    def write(self, source: str, **prompts: str) -> None:
        """Write a flow with its prompts, and trust it."""
        file = self.home.shop / ".handrail" / "workflows" / "flowing" / "workflow.py"
        (file.parent / "prompts").mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(source))
        for name, text in prompts.items():
            (file.parent / "prompts" / f"{name}.md").write_text(text)
        TrustStore(self.home.folders).trust_snapshot(take(file))

    def start_again(self, wanted: RunOptions) -> str:
        """Start a run of what is written."""
        place = here(self.home.shop, os.environ)
        return runs.start(self.home.writer, prepare(this_machine(), place, wanted).request)

    def start_with_agents(self, script: str, **issue: object) -> str:
        """Start a run of what is written, in a worktree, with the scripted agent, for an issue."""
        shop = self.home.shop
        if not (shop / ".git").exists():
            told = ("init -q -b main", "config user.name me", "config user.email me@example.org", "add -A")
            for words in (*told, "commit -qm start"):
                subprocess.run(["git", *words.split()], cwd=shop, check=True)
        played = shop.parent / "script.yaml"
        played.write_text(dedent(script).replace("CALLS", str(shop.parent / "calls")))
        about: dict[str, object] = {"id": "T-7", "title": "Fix it", "body": "It is broken.", "labels": [], **issue}
        inputs = (f"issue={json.dumps(about)}",)
        return self.start_again(RunOptions("flowing", inputs=inputs, agent="scripted", script=str(played)))

    def result(self, run: str) -> Any:
        """Give what the coroutine of a run returned."""
        return self.home.state(run).names["flow"]

    def calls(self) -> list[str]:
        """Give what the agents left behind, which each of them did once when it was called."""
        file = self.home.shop.parent / "calls"
        return file.read_text().split() if file.exists() else []

    def drive(self, run: str) -> RunState:
        """Drive in this process as far as it goes."""
        place = here(self.home.shop, os.environ)
        system = System(self.home.log, self.home.folders.data, workflows_seen_from(os.environ, place))
        asyncio.run(system.supervisor("test").run_until_idle())
        return self.home.state(run)

    def during(self, act: Callable[[], None], ready: Callable[[], bool]) -> None:
        """Drive, and act once while the runs are driven, as soon as something is so."""
        place = here(self.home.shop, os.environ)
        system = System(self.home.log, self.home.folders.data, workflows_seen_from(os.environ, place))

        async def both() -> None:
            driving = asyncio.ensure_future(system.supervisor("test").run_until_idle())
            await until(ready)
            act()
            await asyncio.wait_for(driving, LONG)

        asyncio.run(both())

    def ran(self) -> str:
        """Give what the calls left behind."""
        return (self.home.shop / "ran").read_text()


@pytest.fixture
def flows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Flows]:
    monkeypatch.setenv("HANDRAIL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HANDRAIL_DRIVER_IDLE", "600")
    with home_in(tmp_path) as home:
        yield Flows(home)
