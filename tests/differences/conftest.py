"""Fixtures of the difference tests."""

from pathlib import Path
from typing import cast

import pytest

from support.differences.proofs import Benches
from support.differences.workbench import Driver


@pytest.fixture
def run(tmp_path: Path) -> Benches:
    """Runs workflows with agents that Handrail starts."""
    return Benches(tmp_path)


@pytest.fixture(params=["launched", "connected"])
def both(tmp_path: Path, request: pytest.FixtureRequest) -> Benches:
    """Runs workflows with agents that Handrail starts, and with one that is connected."""
    return Benches(tmp_path, cast("Driver", request.param))
