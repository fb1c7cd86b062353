"""Which agents are known in a place: of Handrail, of the user, of a repository that is trusted."""

import sys
from pathlib import Path

import pytest

from handrail.agents.registry import BuiltInCatalog
from handrail.engine.prompts.choose_agent import AgentContext
from handrail.errors import NotFound, Untrusted, UsageError
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.settings import AgentPolicy
from handrail.operations.agents.configured_agents import ConfiguredAgents, policy_of
from handrail.operations.agents.require_agents import require_agents
from handrail.ports.agents import AgentCall
from handrail.sources.folders import Folders
from handrail.sources.trust.store import TrustStore
from handrail.sources.workflow_snapshot import take
from support.compiler.native_case import compile_text


def _plan() -> Plan:
    plan = compile_text("name: case\ndescription: a case\nsteps: [{name: one, prompt: Go on now., access: full}]\n")[
        0
    ].plan
    assert plan is not None
    return plan


PLAN = _plan()


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    (tmp_path / "config").mkdir()
    return Folders(tmp_path / "config", tmp_path / "data")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    (root / ".handrail").mkdir(parents=True)
    return root


def argv(agents: ConfiguredAgents, name: str, folder: Path, repository: Path | None = None) -> tuple[str, ...]:
    found = agents.find(name, None if repository is None else str(repository))
    call = AgentCall(run="r", address="one", turn=1, prompt="do it", workspace=str(folder), access="full")
    return found.launch(call, str(folder / "call")).argv


def test_built_in_and_known_agents_are_there_without_any_file(folders: Folders) -> None:
    agents = ConfiguredAgents(BuiltInCatalog(), folders)
    for name in ("claude", "codex", "gemini", "opencode", "scripted", "goose"):
        assert agents.find(name).name == name
    assert agents.find("aider").can.access == {"full"}


def test_a_renamed_program_is_a_change_of_the_users_configuration(folders: Folders, tmp_path: Path) -> None:
    text = f"[agents.claude]\nprogram = '{sys.executable}'\nenv = {{ANTHROPIC_BASE_URL = 'http://127.0.0.1:9'}}\n"
    (folders.config / "agents.toml").write_text(text)
    agents = ConfiguredAgents(BuiltInCatalog(), folders)
    assert argv(agents, "claude", tmp_path)[0] == sys.executable
    assert agents.find("claude").name == "claude"
    (folders.config / "agents.toml").write_text("[agents.codex]\nprogram = '/no/such/codex'\n")
    with pytest.raises(NotFound, match="the program of the agent 'codex' does not exist: `/no/such/codex`"):
        argv(agents, "codex", tmp_path)


def test_the_agents_of_a_repository_need_trust_and_count_most(
    folders: Folders, repository: Path, tmp_path: Path
) -> None:
    (folders.config / "agents.toml").write_text(f"[agents.mine]\ncommand = ['{sys.executable}', 'of-the-user']\n")
    config = repository / ".handrail" / "config.toml"
    config.write_text(f"[agents.mine]\ncommand = ['{sys.executable}', 'of-the-repository']\n")
    agents = ConfiguredAgents(BuiltInCatalog(), folders)
    assert argv(agents, "mine", tmp_path) == (sys.executable, "of-the-user")
    with pytest.raises(Untrusted, match=r"the agent 'mine' in .* needs your trust: it has not been trusted"):
        argv(agents, "mine", tmp_path, repository)
    TrustStore(folders).trust_snapshot(take(config))
    assert argv(agents, "mine", tmp_path, repository) == (sys.executable, "of-the-repository")
    assert agents.find("scripted", str(repository)).name == "scripted"


def test_agents_that_the_user_describes_count_as_installed_where_their_program_is_here(
    folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    described = "[agents.gone]\ncommand = ['no-such-program']\n[agents.broken]\ncommand = 'x'\n"
    (folders.config / "agents.toml").write_text(described)
    assert ConfiguredAgents(BuiltInCatalog(), folders).list_installed() == ()
    (folders.config / "agents.toml").write_text(f"{described}[agents.mine]\ncommand = ['{sys.executable}']\n")
    assert ConfiguredAgents(BuiltInCatalog(), folders).list_installed() == ("mine",)
    assert policy_of(None, ("mine",)).usual == "mine"
    (folders.config / "agents.toml").write_text(f"[agents.claude]\nprogram = '{sys.executable}'\n")
    assert ConfiguredAgents(BuiltInCatalog(), folders).list_installed() == ("claude",)
    (folders.config / "agents.toml").unlink()
    (tmp_path / "goose").touch(0o755)
    assert ConfiguredAgents(BuiltInCatalog(), folders).list_installed() == ("goose",)


def test_a_run_whose_described_agent_is_missing_is_refused_before_it_starts(folders: Folders) -> None:
    text = "[agents.gone]\ncommand = ['no-such-program']\ninstall = 'pip install gone'\n"
    (folders.config / "agents.toml").write_text(text)
    with pytest.raises(
        NotFound, match="the agent 'gone' is not installed: there is no program `no-such-program`"
    ) as no:
        require_agents((PLAN,), AgentContext("gone"), ConfiguredAgents(BuiltInCatalog(), folders))
    assert no.value.next_step == "pip install gone"
    instead = AgentContext(policy=AgentPolicy("gone", fallback=("scripted",)))
    assert require_agents((PLAN,), instead, ConfiguredAgents(BuiltInCatalog(), folders)) == ("scripted",)


def test_a_broken_definition_is_refused_only_when_it_is_asked_for(folders: Folders) -> None:
    (folders.config / "agents.toml").write_text("[agents.mine]\ncommand = 'mine {prompt}'\n")
    agents = ConfiguredAgents(BuiltInCatalog(), folders)
    assert agents.find("scripted").name == "scripted"
    with pytest.raises(UsageError, match=r"agents\.toml:2: agent 'mine': `command` must be a list of texts"):
        agents.find("mine")


def test_a_file_that_is_no_toml_is_refused_whoever_is_asked_for(folders: Folders) -> None:
    (folders.config / "agents.toml").write_text("[agents.mine\n")
    with pytest.raises(UsageError, match=r"agents\.toml:1: the configuration is not valid TOML"):
        ConfiguredAgents(BuiltInCatalog(), folders).find("claude")


def test_program_is_for_agents_that_handrail_knows(folders: Folders) -> None:
    (folders.config / "agents.toml").write_text("[agents.claud]\nprogram = '/opt/claude'\n")
    with pytest.raises(UsageError, match="'claud', did you mean 'claude'"):
        ConfiguredAgents(BuiltInCatalog(), folders).find("claud")
