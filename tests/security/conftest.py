"""What every black-box test begins with."""

from pathlib import Path

import pytest

from support.security.black_box import BlackBox, make_black_box


@pytest.fixture
def box(tmp_path: Path) -> BlackBox:
    """A person and a repository; a background driver that a call leaves behind ends by itself."""
    return make_black_box(tmp_path)
