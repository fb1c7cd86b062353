"""Files of played agents that cannot be read."""

from collections.abc import Callable
from pathlib import Path

import pytest

from handrail.agents.played.files import read_cassette, read_script
from handrail.errors import EnvironmentFault, NotFound


@pytest.mark.parametrize(("read", "said"), [(read_script, "does not exist"), (read_cassette, "does not exist")])
def test_a_file_that_is_not_there_is_said_so(tmp_path: Path, read: Callable[[str], object], said: str) -> None:
    with pytest.raises(NotFound, match=said):
        read(str(tmp_path / "none"))


@pytest.mark.parametrize("read", [read_script, read_cassette])
def test_a_folder_is_no_file_to_play(tmp_path: Path, read: Callable[[str], object]) -> None:
    with pytest.raises(EnvironmentFault, match="Is a directory"):
        read(str(tmp_path))
