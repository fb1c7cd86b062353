"""Where a token comes from, and where it goes."""

from collections.abc import Mapping

import pytest

from handrail.trackers.github.api.endpoint import endpoint_at
from handrail.trackers.github.api.token import Token, find_token, missing_token

PUBLIC = endpoint_at("https://api.github.com")
OWN = endpoint_at("https://git.acme.org/api/v3")


def ask_nobody(_name: str, _words: tuple[str, ...], _environ: Mapping[str, str]) -> str | None:
    return None


def test_the_environment_is_asked_first() -> None:
    both = {"GH_TOKEN": "ghp_first", "GITHUB_TOKEN": "ghp_second"}
    assert find_token(PUBLIC, both, ask_nobody) == Token("ghp_first", "GH_TOKEN")
    assert find_token(PUBLIC, {"GITHUB_TOKEN": " ghp_second\n"}, ask_nobody) == Token("ghp_second", "GITHUB_TOKEN")
    assert find_token(PUBLIC, {"GH_TOKEN": ""}, ask_nobody) is None


def test_a_token_for_github_com_is_not_sent_to_another_host() -> None:
    public = {"GH_TOKEN": "ghp_public"}
    assert find_token(OWN, public, ask_nobody) is None
    assert find_token(OWN, {**public, "GH_ENTERPRISE_TOKEN": "own"}, ask_nobody) == Token("own", "GH_ENTERPRISE_TOKEN")
    named = {**public, "GITHUB_API_URL": "https://git.acme.org/api/v3"}
    assert find_token(OWN, named, ask_nobody) == Token("ghp_public", "GH_TOKEN")


def test_gh_is_asked_for_the_host_and_never_sees_a_token_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GH_TOKEN", "ghp_of_the_driver")
    asked: list[tuple[str, ...]] = []

    def ask(name: str, words: tuple[str, ...], environ: Mapping[str, str]) -> str | None:
        assert "GH_TOKEN" not in environ
        asked.append((name, *words))
        return "gho_stored\n"

    assert find_token(OWN, {}, ask) == Token("gho_stored", "gh auth token")
    assert asked == [("gh", "auth", "token", "--hostname", "git.acme.org")]


@pytest.mark.parametrize("printed", ["", "\n", "not logged in\n", None])
def test_what_gh_prints_instead_of_a_token_is_none(printed: str | None) -> None:
    assert find_token(PUBLIC, {}, lambda _name, _words, _environ: printed) is None


def test_a_token_is_not_shown_and_without_one_two_ways_are_named() -> None:
    assert "ghp_secret" not in repr(Token("ghp_secret", "GH_TOKEN"))
    said = missing_token(PUBLIC)
    assert said.next_step == "gh auth login, or set GH_TOKEN"
    assert "GH_ENTERPRISE_TOKEN" in (missing_token(OWN).next_step or "")


def test_the_token_of_a_job_starts_no_checks() -> None:
    actions = {"GITHUB_ACTIONS": "true"}
    assert Token("ghs_x", "GITHUB_TOKEN").starts_no_checks(actions)
    assert not Token("ghp_x", "GITHUB_TOKEN").starts_no_checks(actions)
    assert not Token("ghs_x", "GITHUB_TOKEN").starts_no_checks({})
