"""The table of agents, and the profile of each."""

import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

import handrail.agents
from handrail.agents.profiles import ANY_AGENT, PROFILES, agent_in_shell, find_profile, load_profiles, make_agent
from handrail.ports.agent_profiles import AgentProfile


@pytest.mark.parametrize("name", PROFILES)
def test_a_line_of_the_table_names_the_agent_of_its_profile(name: str) -> None:
    profile = find_profile(name)
    assert profile is not None
    assert profile.name == name
    assert profile.default.partition("/")[0] == name


def test_every_folder_with_a_profile_has_a_line() -> None:
    folder = Path(handrail.agents.__file__).parent
    found = {f"handrail.agents.{path.parent.name}.profile" for path in folder.glob("*/profile.py")}
    assert found == set(PROFILES.values())


@pytest.mark.parametrize("profile", load_profiles(), ids=lambda each: each.name)
def test_the_adapter_of_a_profile_has_its_name_and_gets_its_variables(profile: AgentProfile) -> None:
    agent = make_agent(profile)
    assert agent.name == profile.name
    assert set(profile.variables) <= set(agent.variables)


@pytest.mark.parametrize("profile", load_profiles(), ids=lambda each: each.name)
def test_the_variables_of_a_login_and_of_a_folder_reach_the_agent(profile: AgentProfile) -> None:
    account = profile.login.account
    places = (profile.config.variable, "" if account is None else account.variable)
    for variable in (*profile.login.variables, *filter(None, places)):
        assert any(fnmatchcase(variable, each) for each in profile.variables), variable


def test_an_agent_of_somebody_else_has_no_profile() -> None:
    assert find_profile("somebody") is None


def test_profiles_are_read_without_an_adapter() -> None:
    program = (
        "import sys\nfrom handrail.agents.profiles import load_profiles\nload_profiles()\n"
        "print(*(name for name in sys.modules if name.endswith(('.adapter', '.lines'))))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == []


@pytest.mark.parametrize("profile", load_profiles(), ids=lambda each: each.name)
def test_the_shell_of_an_agent_is_known_by_each_of_its_marks(profile: AgentProfile) -> None:
    assert profile.shell_marks
    for mark in profile.shell_marks:
        assert agent_in_shell({"PATH": "/bin", mark: "1"}) == profile.name
        assert agent_in_shell({"PATH": "/bin", mark: ""}) == ""


def test_an_agent_that_is_not_known_may_name_itself() -> None:
    assert agent_in_shell({ANY_AGENT: "somebody_1"}) == "somebody_1"
    assert agent_in_shell({"PATH": "/bin", "CODEX_HOME": "/x", "GEMINI_API_KEY": "k"}) == ""
