"""Fixtures of the command line's tests."""

from collections.abc import Generator
from pathlib import Path

import pytest
from running import Runs
from shop import Shop


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    root = tmp_path / "shop"
    (root / ".git").mkdir(parents=True)
    monkeypatch.chdir(root)
    return Shop(root, tmp_path / "home")


@pytest.fixture
def runs(shop: Shop) -> Generator[Runs]:
    found = Runs(shop)
    yield found
    found.end_driver()
