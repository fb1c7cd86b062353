"""What git gets for a connection: the user's own means first, a token only where it is safe, and a limit to waiting."""

from pathlib import Path

import pytest

from handrail.ports.delivery import PushRequest
from handrail.workspace.delivery.push_refusals import Login
from handrail.workspace.delivery.remote_git import RemoteGit, connect
from support.workspace.git_room import GitRoom

SECRET = "ghp_of_the_run"


def reach(shop: GitRoom, url: str, token: str = SECRET) -> RemoteGit:
    request = PushRequest(branch="work/r1", remote="origin", message="", token=token)
    return connect(shop.spaces.places.git(shop.repo), url, request)


def settings(remote: RemoteGit) -> dict[str, str]:
    network = remote.git.network or {}
    count = int(network["GIT_CONFIG_COUNT"])
    return {network[f"GIT_CONFIG_KEY_{at}"]: network[f"GIT_CONFIG_VALUE_{at}"] for at in range(count)}


@pytest.mark.parametrize(
    ("url", "token", "login"),
    [
        ("https://github.com/acme/shop.git", SECRET, "token"),
        ("http://127.0.0.1:8000/acme/shop.git", SECRET, "token"),
        ("http://git.acme.org/acme/shop.git", SECRET, "none"),
        ("https://github.com/acme/shop.git", "", "none"),
        ("https://ann:word@github.com/acme/shop.git", SECRET, "address"),
        ("git@github.com:acme/shop.git", SECRET, "ssh"),
        ("ssh://git@github.com/acme/shop.git", SECRET, "ssh"),
        ("file:///srv/shop.git", SECRET, ""),
    ],
)
def test_a_token_is_used_where_the_user_has_nothing_and_it_is_encrypted(
    shop: GitRoom, url: str, token: str, login: Login
) -> None:
    remote = reach(shop, url, token)
    assert remote.login == login
    assert (SECRET in (remote.git.network or {}).values()) == (login == "token")


def test_the_users_credential_helper_comes_first(shop: GitRoom, git_home: Path) -> None:
    with (git_home / ".gitconfig").open("a") as file:
        file.write('[credential "https://github.com"]\n\thelper = store\n')
    assert reach(shop, "https://github.com/acme/shop.git").login == "helper"
    assert reach(shop, "https://git.acme.org/acme/shop.git").login == "token"


def test_a_connection_on_which_nothing_moves_is_given_up_when_the_user_says_so_or_after_a_minute(
    shop: GitRoom, git_home: Path
) -> None:
    url = "https://github.com/acme/shop.git"
    assert settings(reach(shop, url))["http.lowSpeedTime"] == "60"
    with (git_home / ".gitconfig").open("a") as file:
        file.write('[http "https://github.com"]\n\tlowSpeedTime = 5\n')
    assert "http.lowSpeedTime" not in settings(reach(shop, url))
    assert settings(reach(shop, url))["http.lowSpeedLimit"] == "1"
    assert "ServerAliveInterval" in settings(reach(shop, "git@github.com:acme/shop.git"))["core.sshCommand"]


def test_a_command_that_talks_to_a_remote_inherits_no_lock(shop: GitRoom) -> None:
    request = PushRequest(branch="work/r1", remote="origin", message="")
    git = shop.spaces.places.git(shop.repo).with_locks(7)
    assert connect(git, "file:///srv/shop.git", request).git.held == ()
