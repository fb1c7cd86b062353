"""A repository with flows in it, and whoever drives them."""

import asyncio
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

from handrail.model.history.run_state import RunState
from handrail.operations.runs import lifecycle as runs
from handrail.operations.runs.prepare import Wanted, prepare, workflows_seen_from
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
        shop = self.home.shop
        file = shop / ".handrail" / "workflows" / "flowing" / "workflow.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(source))
        TrustStore(self.home.folders).trust_snapshot(take(file))
        wanted = Wanted("flowing", inputs=inputs, folder=str(shop))
        return runs.start(self.home.writer, prepare(this_machine(), here(shop, os.environ), wanted).request)

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
