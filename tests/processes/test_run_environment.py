from collections.abc import Mapping

import pytest

from handrail.ports.environments import RunEnvironments
from handrail.processes.run_environment import HandedEnvironments, SharedEnvironments


def _account(agent: str, variables: Mapping[str, str]) -> str:
    return f"{agent} of {variables['HOME']}"


@pytest.fixture
def environments(monkeypatch: pytest.MonkeyPatch) -> SharedEnvironments:
    monkeypatch.setenv("HOME", "/home/ann")
    monkeypatch.setenv("SHOP_NAME", "corner")
    monkeypatch.setenv("SHOP_TOKEN", "a-token-of-the-shop")
    return SharedEnvironments(_account)


def test_commands_get_the_allowed_variables_and_the_named_ones(environments: RunEnvironments) -> None:
    environment = environments.environment_of("work-1")
    assert environment.variables()["HOME"] == "/home/ann"
    assert "SHOP_NAME" not in environment.variables()
    assert environment.variables(("SHOP_NAME", "SHOP_TOKEN"))["SHOP_TOKEN"] == "a-token-of-the-shop"


def test_the_redactor_knows_the_secrets_whether_commands_get_them_or_not(environments: RunEnvironments) -> None:
    masked = environments.environment_of("work-1").redactor.text("it is a-token-of-the-shop at corner")
    assert "a-token-of-the-shop" not in masked
    assert "corner" in masked


def test_every_run_sees_a_variable_as_it_is_now(environments: RunEnvironments, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ben")
    assert environments.environment_of("work-1").variables()["HOME"] == "/home/ben"
    assert environments.environment_of("work-2").variables() == environments.environment_of("work-1").variables()


def test_an_account_is_looked_for_in_the_variables_that_the_agent_gets(environments: RunEnvironments) -> None:
    environment = environments.environment_of("work-1")
    assert environment.account("claude", {"HOME": "/elsewhere"}) == "claude of /elsewhere"


def test_changed_variables_are_chosen_from_as_well_and_further_ones_always_passed() -> None:
    environments = SharedEnvironments(_account, {"PATH": "/tools", "SHOP": "corner"}, {"HANDRAIL_HOME": "/room"})
    variables = environments.environment_of("work-1").variables()
    assert variables["PATH"] == "/tools"
    assert variables["HANDRAIL_HOME"] == "/room"
    assert "SHOP" not in variables


@pytest.mark.parametrize("handed", [False, True])
def test_a_secret_that_is_in_no_variable_is_removed_too(environments: SharedEnvironments, *, handed: bool) -> None:
    known = HandedEnvironments(environments, lambda run: run)
    if handed:
        known.hold("work-1", {"PATH": "/bin"})
    before = known.environment_of("work-1")
    known.add_secret("work-1", "the keyring", "kept-in-the-keyring")
    for each in (before, known.environment_of("work-1")):
        assert "kept-in-the-keyring" not in each.redactor.text("it is kept-in-the-keyring")
        assert "kept-in-the-keyring" not in each.secrets.values()
