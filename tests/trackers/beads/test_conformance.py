"""Beads does what every tracker must do, through `bd`, in both forms of its answers."""

import time
from pathlib import Path

import pytest

from handrail.model.issues import BEADS, IssueRef
from handrail.model.secrets.redaction import Redactor
from handrail.ports.trackers import Tracker
from handrail.processes.secret_forms import FORMS
from handrail.store.memory.log import MemoryWorld
from handrail.testing.conformance.trackers import TrackerConformance, TrackerWorld
from handrail.trackers.beads.book import BeadsIssues
from handrail.trackers.beads.program import Bd, find_bd
from handrail.trackers.local.tracker import LocalTracker
from support.beads.install import add_beads, ask_double


class BeadsWorld:
    writer = "person:ann"
    stranger = "agent:demo-1/work"

    def __init__(self, repository: Path) -> None:
        self._repository = add_beads(repository)
        self._log = MemoryWorld().open()
        self._now = time.time()

    def tracker(self) -> Tracker:
        return LocalTracker(self._issues(), BEADS)

    def comment_as(self, ref: IssueRef, login: str, text: str) -> None:
        self._issues().comment(ref.id, text, login)

    def _issues(self) -> BeadsIssues:
        found = find_bd(ask_double, str(self._repository))
        assert isinstance(found, Bd)
        return BeadsIssues(found, self._log, self._clock, Redactor({}, FORMS))

    def _clock(self) -> float:
        self._now += 1
        return self._now


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TrackerWorld:
    monkeypatch.delenv("BD_JSON_ENVELOPE", raising=False)
    return make_world(tmp_path)


def make_world(folder: Path) -> BeadsWorld:
    repository = folder / "shop"
    repository.mkdir()
    return BeadsWorld(repository)


class TestBeads(TrackerConformance):
    """With bare arrays and objects."""


class TestBeadsInEnvelopes(TrackerConformance):
    """With every answer in an envelope."""

    @pytest.fixture
    def world(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TrackerWorld:
        monkeypatch.setenv("BD_JSON_ENVELOPE", "1")
        return make_world(tmp_path)
