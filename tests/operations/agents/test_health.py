"""What is found out about the agents of a machine, without asking their services."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from handrail.agents.codex.profile import PROFILE as CODEX
from handrail.agents.profiles import load_profiles
from handrail.agents.registry import BuiltInCatalog
from handrail.cli.main import cli
from handrail.operations.agents.health import AgentHealth, access_words, examine_agents, list_unsupported
from handrail.ports.agents import Abilities
from handrail.processes.local_programs import LocalPrograms
from handrail.processes.machine_tools import find_tools
from handrail.runtime.handlers.agents.account_limits import AccountLimit, AccountLimits

SAYS = '#!/bin/sh\n[ "$1" = --version ] && { echo 1.2.3; exit; }\necho "$@" >"$0.asked"; exit CODE\n'


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in {each for profile in load_profiles() for each in profile.login.variables}:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HANDRAIL_HOME", str(tmp_path / "handrail"))
    return folder


def install(folder: Path, name: str, code: int) -> None:
    path = folder / name
    path.write_text(SAYS.replace("CODE", str(code)))
    path.chmod(0o755)


def look(home: Path, **environ: str) -> dict[str, AgentHealth]:
    catalog = BuiltInCatalog()
    programs = find_tools(each.program for each in catalog.profiles)
    found = examine_agents(catalog, LocalPrograms(), programs, {"HOME": str(home), **environ})
    return {each.name: each for each in found}


@pytest.mark.parametrize(("code", "logged_in"), [(0, True), (1, False), (2, None)])
def test_an_agent_says_itself_whether_it_is_logged_in(bin_folder: Path, code: int, *, logged_in: bool | None) -> None:
    install(bin_folder, "claude", code)
    install(bin_folder, "codex", code)
    found = look(bin_folder)
    assert [(found[name].installed, found[name].version) for name in ("claude", "codex")] == [(True, "1.2.3")] * 2
    assert [found[name].logged_in for name in ("claude", "codex")] == [logged_in] * 2
    assert (bin_folder / "claude.asked").read_text() == "auth status\n"
    assert (bin_folder / "codex.asked").read_text() == "login status\n"


def test_a_key_in_the_environment_is_a_login_and_nothing_is_asked(bin_folder: Path) -> None:
    install(bin_folder, "claude", 1)
    assert look(bin_folder, ANTHROPIC_API_KEY="sk-1")["claude"].logged_in is True
    assert not (bin_folder / "claude.asked").exists()


def test_an_agent_without_a_word_for_it_shows_its_login_by_a_file(bin_folder: Path, tmp_path: Path) -> None:
    install(bin_folder, "gemini", 1)
    assert look(tmp_path)["gemini"].logged_in is False
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "oauth_creds.json").write_text("{}")
    assert look(tmp_path)["gemini"].logged_in is True
    assert not (bin_folder / "gemini.asked").exists()


def test_an_agent_that_is_not_there_says_how_it_is_installed(bin_folder: Path) -> None:
    found = look(bin_folder)["codex"]
    assert (found.installed, found.logged_in, found.login) == (False, None, CODEX.install)


def test_what_an_agent_cannot_be_held_to_is_named() -> None:
    whole = Abilities(tools=True, single_turn=True, resume=True, mcp=True, without_project_files=True)
    assert list_unsupported(whole) == ()
    can = Abilities(access=frozenset({"full", "read"}), model=False)
    assert (access_words(can), list_unsupported(can)) == (
        "read, full",
        (
            *("access edit", "tool lists", "single turn", "model", "continued conversations", "Handrail's tools"),
            "start without the repository's files",
        ),
    )


def test_the_doctor_shows_every_installed_agent_in_one_line_and_all_of_it_as_json(
    bin_folder: Path, tmp_path: Path
) -> None:
    install(bin_folder, "claude", 0)
    install(bin_folder, "codex", 1)
    limits = AccountLimits(tmp_path / "handrail" / "data" / "limits")
    limits.note("claude-1", AccountLimit("claude", 4_000_000_000.0, "fix-bug-1", "no more"))
    shown = CliRunner().invoke(cli, ["doctor"]).output
    assert "  claude    logged in · access read, edit, full\n" in shown
    line = "  codex     not logged in (next: codex login) · access read, edit, full; cannot enforce tool lists"
    assert f"{line}, single turn\n" in shown
    assert "  claude    at its usage limit until 2096-10-02" in shown
    data = json.loads(CliRunner().invoke(cli, ["doctor", "--json"]).output)
    claude, codex = (next(each for each in data["agents"] if each["name"] == name) for name in ("claude", "codex"))
    assert (claude["logged_in"], claude["next"], claude["can"]["tools"]) == (True, None, True)
    assert (codex["logged_in"], codex["next"], codex["can"]["access"]) == (
        False,
        "codex login",
        ["read", "edit", "full"],
    )
    assert data["limits"][0]["run"] == "fix-bug-1"
