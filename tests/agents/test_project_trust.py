"""How each agent is started with and without the files of a repository that configure it."""

import json
import os
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from handrail.agents.acp.adapter import AcpAgent
from handrail.agents.claude.adapter import ClaudeAgent
from handrail.agents.codex.adapter import CodexAgent
from handrail.agents.described.adapter import CommandAgent
from handrail.agents.from_table import AgentWithEnvironment
from handrail.agents.gemini.adapter import GeminiAgent
from handrail.agents.opencode.adapter import OpencodeAgent
from handrail.ports.agent_definitions import AgentDefinition
from handrail.ports.agents import Agent, AgentCall, Configurable, Launch, Project, ProjectTrust

PROGRAM = "/bin/true"
VENDORS: list[Agent] = [ClaudeAgent(program=PROGRAM), CodexAgent(PROGRAM), GeminiAgent(PROGRAM), OpencodeAgent(PROGRAM)]


def start(agent: Agent, tmp_path: Path, files: ProjectTrust, **changes: Any) -> Launch:
    root = tmp_path / "repo"
    (root / "sub").mkdir(parents=True, exist_ok=True)
    (root / "CLAUDE.md").write_text("MEMORY")
    (root / "AGENTS.md").write_text("INSTRUCTIONS")
    project = Project((str(root / "sub"), str(root)), "/checkout", files)
    call = AgentCall(run="r", address="a", turn=1, prompt="PROMPT", workspace=str(root / "sub"), project=project)
    return agent.launch(replace(call, **changes), str(tmp_path / "in"))


def trust_of(launch: Launch) -> dict[str, str]:
    word = next(word for word in launch.argv if word.startswith("projects="))
    return {path: each["trust_level"] for path, each in tomllib.loads(word)["projects"].items()}


@pytest.mark.parametrize("agent", VENDORS, ids=lambda each: each.name)
def test_every_agent_of_a_vendor_can_be_configured_by_a_repository(agent: Agent) -> None:
    assert isinstance(agent, Configurable)
    assert agent.project_files("edit").names
    assert agent.can.without_project_files == (agent.name in ("claude", "codex"))


def test_an_agent_with_variables_of_its_own_is_configured_by_the_same_files() -> None:
    agent = AgentWithEnvironment(ClaudeAgent(program=PROGRAM), (("A", "b"),))
    assert agent.project_files("full") == ClaudeAgent().project_files("full")


@pytest.mark.parametrize("access", ["edit", "full"])
def test_claude_reads_only_the_users_settings_and_is_told_the_instructions(tmp_path: Path, access: str) -> None:
    bare = start(ClaudeAgent(program=PROGRAM), tmp_path, "untrusted", access=access)
    assert "--setting-sources=user" in bare.argv
    assert "MEMORY" in (tmp_path / "in" / "system.md").read_text()
    for files in ("trusted", "absent"):
        usual = start(ClaudeAgent(program=PROGRAM), tmp_path, files, access=access)
        assert not any(word.startswith(("--setting-sources", "--append-system")) for word in usual.argv)


def test_claude_with_access_read_heeds_no_files_whoever_trusts_them(tmp_path: Path) -> None:
    agent = ClaudeAgent(program=PROGRAM)
    assert agent.project_files("read").names == ()
    assert "--setting-sources=user" in start(agent, tmp_path, "absent", access="read").argv


def test_codex_is_told_of_every_folder_that_it_looks_up(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    trusted = trust_of(start(CodexAgent(PROGRAM), tmp_path, "trusted"))
    assert trusted == dict.fromkeys((str(root / "sub"), str(root), "/checkout"), "trusted")
    assert trust_of(start(CodexAgent(PROGRAM), tmp_path, "absent")) == trusted
    bare = trust_of(start(CodexAgent(PROGRAM), tmp_path, "untrusted"))
    assert set(bare.values()) == {"untrusted"}
    assert {*trusted, str(tmp_path), "/"} <= set(bare)


def test_codex_is_told_of_a_folder_without_its_links(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    call = AgentCall(run="r", address="a", turn=1, prompt="", workspace=str(tmp_path / "link"))
    assert list(trust_of(CodexAgent(PROGRAM).launch(call, str(tmp_path)))) == [os.path.realpath(tmp_path / "real")]


def test_the_trial_of_codexs_sandbox_is_told_the_same(tmp_path: Path) -> None:
    launch = start(CodexAgent(PROGRAM), tmp_path, "untrusted", access="edit")
    assert len([word for word in launch.argv if word.startswith("projects=")]) == 2
    assert '-c "$trust"' in launch.argv[2]


def test_codex_is_told_the_instructions_that_it_does_not_read_once(tmp_path: Path) -> None:
    agent = CodexAgent(PROGRAM)
    assert start(agent, tmp_path, "untrusted").stdin == b"The repository's AGENTS.md says:\n\nINSTRUCTIONS\n\nPROMPT"
    assert start(agent, tmp_path, "untrusted", session="s").stdin == b"PROMPT"
    assert start(agent, tmp_path, "trusted").stdin == b"PROMPT"


def test_gemini_reads_the_settings_of_the_repository_only_where_they_are_trusted(tmp_path: Path) -> None:
    def told(files: ProjectTrust) -> str | None:
        return dict(start(GeminiAgent(PROGRAM), tmp_path, files).env).get("GEMINI_CLI_TRUST_WORKSPACE")

    assert (told("trusted"), told("absent")) == ("true", None)


@pytest.mark.parametrize("kind", [CommandAgent, AcpAgent])
def test_a_described_agent_is_started_with_the_words_of_its_definition(tmp_path: Path, kind: Any) -> None:
    given = AgentDefinition(
        name="own", command=(PROGRAM, "go"), project_files=(".own/**",), without_project_files=("--no-project",)
    )
    agent = kind(given)
    assert (agent.project_files("full").names, agent.can.without_project_files) == ((".own/**",), True)

    def words(files: ProjectTrust) -> list[str]:
        launch = start(agent, tmp_path, files, access="full")
        task = tmp_path / "in" / "acp.json"
        return json.loads(task.read_bytes())["command"] if kind is AcpAgent else list(launch.argv)

    assert words("untrusted") == [PROGRAM, "go", "--no-project"]
    assert words("trusted") == words("absent") == [PROGRAM, "go"]


def test_a_described_agent_without_such_words_cannot_be_started_without_its_files() -> None:
    agent = CommandAgent(AgentDefinition(name="own", command=(PROGRAM,), project_files=(".own",)))
    assert not agent.can.without_project_files
