"""Where agents keep their own matters, which a sandbox leaves writable."""

from pathlib import Path

import pytest

from handrail.agents.config_folders import own_folders


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in (".claude", ".codex", ".config/opencode", ".gemini"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / ".claude.json").touch()
    return tmp_path


def test_only_what_belongs_to_the_agent_and_is_there_is_named(home: Path) -> None:
    env = {"HOME": str(home)}
    assert own_folders("claude", env) == (home / ".claude", home / ".claude.json")
    assert own_folders("opencode", env) == (home / ".config/opencode",)
    assert own_folders("somebody", env) == ()


def test_a_folder_of_its_own_stands_in_the_place_of_the_usual_one(home: Path) -> None:
    env = {"HOME": str(home), "CODEX_HOME": str(home / ".gemini"), "CLAUDE_CONFIG_DIR": str(home / "missing")}
    assert own_folders("codex", env) == (home / ".gemini",)
    assert own_folders("claude", env) == ()
