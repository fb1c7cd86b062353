"""The local tracker does what every tracker must do, on both logs."""

from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path

import pytest

from handrail.model.issues import IssueRef
from handrail.model.secrets.redaction import Redactor
from handrail.ports.log import Log
from handrail.ports.trackers import Tracker
from handrail.processes.secret_forms import FORMS
from handrail.store.memory.log import MemoryWorld
from handrail.store.sqlite.log import open_log
from handrail.testing.conformance.trackers import TrackerConformance, TrackerWorld
from handrail.trackers.local.book import LocalIssues
from handrail.trackers.local.tracker import LocalTracker


class LocalWorld:
    writer = "person:ann"
    stranger = "agent:demo-1/work"

    def __init__(self, log: Callable[[], Log]) -> None:
        self._log = log
        self._now = 1_000_000.0

    def tracker(self) -> Tracker:
        return LocalTracker(self._issues())

    def comment_as(self, ref: IssueRef, login: str, text: str) -> None:
        self._issues().comment(ref.id, text, login)

    def _issues(self) -> LocalIssues:
        return LocalIssues(self._log(), "/work/shop", self._clock, lambda: Redactor({}, FORMS))

    def _clock(self) -> float:
        self._now += 1
        return self._now


class TestLocalTrackerOnSqlite(TrackerConformance):
    @pytest.fixture
    def world(self, tmp_path: Path) -> Generator[TrackerWorld]:
        with closing(open_log(tmp_path / "data")) as log:
            yield LocalWorld(lambda: log)


class TestLocalTrackerInMemory(TrackerConformance):
    @pytest.fixture
    def world(self) -> TrackerWorld:
        return LocalWorld(MemoryWorld().open)
