from collections.abc import Iterator
from pathlib import Path

import pytest
from pull_room import Pull

from handrail.testing.leaks import nothing_left_behind

__all__ = ["nothing_left_behind"]


@pytest.fixture
def pull(tmp_path: Path) -> Iterator[Pull]:
    made = Pull(tmp_path)
    yield made
    made.close()
