"""Both logs of Handrail do what every log must do."""

from pathlib import Path

import pytest

from handrail.ports.log import Log
from handrail.store.memory.log import MemoryWorld
from handrail.store.sqlite.log import open_log
from handrail.testing.conformance.log import LogConformance, LogWorld


class SqliteWorld:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self) -> Log:
        return open_log(self._folder)


class TestSqliteLog(LogConformance):
    @pytest.fixture
    def world(self, tmp_path: Path) -> LogWorld:
        return SqliteWorld(tmp_path / "data")


class TestMemoryLog(LogConformance):
    @pytest.fixture
    def world(self) -> LogWorld:
        return MemoryWorld()
