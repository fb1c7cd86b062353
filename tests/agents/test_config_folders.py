"""Where agents keep their own matters, which a sandbox leaves writable."""

from pathlib import Path

import pytest

from handrail.agents.claude.profile import PROFILE as CLAUDE
from handrail.agents.codex.profile import PROFILE as CODEX
from handrail.agents.config_folders import find_config_folders
from handrail.agents.opencode.profile import PROFILE as OPENCODE


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in (".claude", ".codex", ".config/opencode", ".gemini"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / ".claude.json").touch()
    return tmp_path


def test_only_what_belongs_to_the_agent_and_is_there_is_named(home: Path) -> None:
    env = {"HOME": str(home)}
    assert find_config_folders(CLAUDE, env) == (home / ".claude", home / ".claude.json")
    assert find_config_folders(OPENCODE, env) == (home / ".config/opencode",)


def test_a_folder_of_its_own_stands_in_the_place_of_the_usual_one(home: Path) -> None:
    env = {"HOME": str(home), "CODEX_HOME": str(home / ".gemini"), "CLAUDE_CONFIG_DIR": str(home / "missing")}
    assert find_config_folders(CODEX, env) == (home / ".gemini",)
    assert find_config_folders(CLAUDE, env) == ()
