"""What every black-box test of first use begins with."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.first_use.shells import Shells, open_shells
from support.security.black_box import BlackBox, make_black_box


@pytest.fixture
def shells(tmp_path: Path) -> Iterator[Shells]:
    """Three shells of one person."""
    with open_shells(make_black_box(tmp_path), sys.executable) as opened:
        yield opened


@pytest.fixture
def box(tmp_path: Path) -> BlackBox:
    """A person and a repository; a background driver that a call leaves behind ends by itself."""
    return make_black_box(tmp_path)
