"""Fixtures of the tests of connected agents."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.pull.room import Pull


@pytest.fixture
def pull(tmp_path: Path) -> Iterator[Pull]:
    made = Pull(tmp_path)
    yield made
    made.close()
