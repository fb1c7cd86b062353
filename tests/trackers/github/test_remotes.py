"""Which repository a remote names, and where its API is."""

import pytest

from handrail.errors import TrackerFault
from handrail.trackers.github.api.endpoint import GitHubSetting, configured_endpoint, endpoint_at, endpoint_for
from handrail.trackers.github.remotes import parse_place, parse_remote

KNOWN = ("git.acme.org", "127.0.0.1:8080")


@pytest.mark.parametrize(
    ("remote", "name"),
    [
        ("https://github.com/acme/shop.git", "github.com/acme/shop"),
        ("https://github.com/acme/shop", "github.com/acme/shop"),
        ("https://github.com/acme/shop/", "github.com/acme/shop"),
        ("https://ann:secret@GitHub.com:443/acme/shop.git", "github.com/acme/shop"),
        ("https://www.github.com/acme/shop", "github.com/acme/shop"),
        ("git@github.com:acme/shop.git", "github.com/acme/shop"),
        ("github.com:acme/shop", "github.com/acme/shop"),
        ("org-1234@github.com:acme/shop.js.git", "github.com/acme/shop.js"),
        ("ssh://git@github.com/acme/shop.git", "github.com/acme/shop"),
        ("ssh://git@ssh.github.com:443/acme/shop.git", "github.com/acme/shop"),
        ("git+ssh://git@github.com/acme/shop.git", "github.com/acme/shop"),
        ("git://github.com/acme/shop.git", "github.com/acme/shop"),
        ("https://acme.ghe.com/acme/shop.git", "acme.ghe.com/acme/shop"),
        ("ssh://git@git.acme.org:7999/acme/shop.git", "git.acme.org/acme/shop"),
        ("http://127.0.0.1:8080/acme/shop.git", "127.0.0.1:8080/acme/shop"),
    ],
)
def test_a_remote_names_its_repository(remote: str, name: str) -> None:
    found = parse_remote(remote, KNOWN)
    assert str(found) == name
    assert parse_place(name) == found


@pytest.mark.parametrize(
    "remote",
    [
        "",
        "https://gitlab.com/acme/shop.git",
        "https://github.com.evil.org/acme/shop.git",
        "https://evil.org/github.com/acme/shop.git",
        "https://github.com@evil.org/acme/shop",
        "git@evilgithub.com:acme/shop.git",
        "https://github.com/acme",
        "https://github.com/acme/shop/tree/main",
        "https://github.com/acme/..",
        "https://github.com/acme/sh op",
        "https://github.com:99999999/acme/shop",
        "https://[::1/acme/shop",
        "/srv/github.com:acme/shop.git",
        "../shop",
        "file:///srv/github.com/acme/shop.git",
        "C:\\work\\shop",
    ],
)
def test_any_other_remote_is_not_one_of_github(remote: str) -> None:
    assert parse_remote(remote, KNOWN) is None


@pytest.mark.parametrize(
    ("url", "host", "graphql"),
    [
        ("https://api.github.com", "github.com", "https://api.github.com/graphql"),
        ("https://api.acme.ghe.com/", "acme.ghe.com", "https://api.acme.ghe.com/graphql"),
        ("https://git.acme.org/api/v3", "git.acme.org", "https://git.acme.org/api/graphql"),
        ("http://127.0.0.1:8080/api/v3", "127.0.0.1:8080", "http://127.0.0.1:8080/api/graphql"),
        ("http://localhost:8080", "localhost:8080", "http://localhost:8080/graphql"),
    ],
)
def test_host_and_graphql_follow_from_the_address_of_the_api(url: str, host: str, graphql: str) -> None:
    found = endpoint_at(url)
    assert (found.host, found.graphql) == (host, graphql)


@pytest.mark.parametrize(
    "url",
    ["http://git.acme.org/api/v3", "ftp://x", "git.acme.org", "https://a:b@git.acme.org", "http://127.0.0.1.evil.org"],
)
def test_an_address_that_would_leak_a_token_is_refused(url: str) -> None:
    with pytest.raises(TrackerFault):
        endpoint_at(url)


def test_the_environment_wins_over_the_configuration_and_github_com_is_the_default() -> None:
    setting = GitHubSetting("https://git.acme.org/api/v3")
    assert configured_endpoint({}, GitHubSetting()).host == "github.com"
    assert configured_endpoint({}, setting).host == "git.acme.org"
    assert configured_endpoint({}, GitHubSetting(host="git.acme.org")).rest == "https://git.acme.org/api/v3"
    assert configured_endpoint({}, GitHubSetting("https://api.acme.org", "git.acme.org")).host == "git.acme.org"
    named = {"GITHUB_API_URL": "https://other.org/api/v3"}
    assert configured_endpoint(named, setting).host == "other.org"
    assert endpoint_for("git.acme.org", named, setting).rest == "https://git.acme.org/api/v3"
    assert endpoint_for("github.com", named, setting).rest == "https://api.github.com"
    with pytest.raises(TrackerFault, match="not known"):
        endpoint_for("unheard.org", named, setting)


def test_an_endpoint_owns_its_own_addresses_alone() -> None:
    here = endpoint_at("https://api.github.com")
    assert here.owns("https://api.github.com/repositories/1")
    assert not here.owns("https://api.github.com.evil.org/x")
    assert not here.owns("http://api.github.com/x")
    assert not here.owns("https://api.github.com:8443/x")
    assert here.owns_page("https://github.com/user-attachments/files/1/a.txt")
