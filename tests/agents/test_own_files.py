"""What the own files of agents tell: where their data is, and the account that they are logged in to."""

import json
from pathlib import Path

import pytest

from handrail.agents.claude.profile import PROFILE as CLAUDE
from handrail.agents.codex.profile import PROFILE as CODEX
from handrail.agents.gemini.profile import PROFILE as GEMINI
from handrail.agents.opencode.profile import PROFILE as OPENCODE
from handrail.agents.own_files import find_account, find_config_folders
from handrail.ports.agent_profiles import AgentProfile
from handrail.runtime.handlers.agents.account_limits import account_of


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


@pytest.mark.parametrize(
    ("agent", "file", "content"),
    [
        (CLAUDE, ".claude.json", {"oauthAccount": {"accountUuid": "ann"}, "numStartups": 3}),
        (CODEX, ".codex/auth.json", {"tokens": {"account_id": "ann", "access_token": "changes each hour"}}),
        (GEMINI, ".gemini/google_accounts.json", {"active": "ann", "old": []}),
    ],
)
def test_the_name_of_the_account_is_found_in_the_home(
    agent: AgentProfile, file: str, content: object, tmp_path: Path
) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(json.dumps(content))
    assert find_account(agent, {"HOME": str(tmp_path)}) == "ann"


def test_a_folder_of_its_own_counts_before_the_home(tmp_path: Path) -> None:
    (tmp_path / "auth.json").write_text('{"tokens": {"account_id": "bob"}}')
    assert find_account(CODEX, {"HOME": "/nowhere", "CODEX_HOME": str(tmp_path)}) == "bob"


@pytest.mark.parametrize("content", ["", "{", "[]", "3", '{"tokens": null}', '{"tokens": {"account_id": 3}}'])
def test_files_that_do_not_tell_it_name_no_account(content: str, tmp_path: Path) -> None:
    (tmp_path / "auth.json").write_text(content)
    assert find_account(CODEX, {"CODEX_HOME": str(tmp_path)}) == ""
    assert find_account(OPENCODE, {"HOME": str(tmp_path)}) == ""


def test_another_login_is_another_account_and_its_name_cannot_be_read() -> None:
    first, second = (account_of("codex", {}, login) for login in ("ann@example.org", "bob@example.org"))
    assert first != second
    assert "ann" not in first
    assert account_of("codex", {}, "ann@example.org") == first
