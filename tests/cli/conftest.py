"""Fixtures of the command line's tests."""

from pathlib import Path

import pytest
from shop import Shop


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    root = tmp_path / "shop"
    (root / ".git").mkdir(parents=True)
    monkeypatch.chdir(root)
    return Shop(root, tmp_path / "home")
