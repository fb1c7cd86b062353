"""A login that a remote refuses is explained by what git had to log in with, and with the command that helps."""

import pytest

from handrail.workspace.delivery.push_refusals import Login, explain_refusal
from handrail.workspace.git.command import GitResult

PUBLIC = "https://github.com/acme/shop.git"
OWN = "https://git.acme.org/acme/shop.git"
NO_NAME = "fatal: could not read Username for 'https://github.com': terminal prompts disabled"
DENIED = "remote: Permission to acme/shop.git denied to ann.\nfatal: The requested URL returned error: 403"
NO_KEY = "git@github.com: Permission denied (publickey).\nfatal: Could not read from remote repository."


@pytest.mark.parametrize(
    ("url", "err", "login", "message", "next_step"),
    [
        (PUBLIC, NO_NAME, "none", "your git has no credential helper for https://github.com", "gh auth setup-git, or"),
        (PUBLIC, NO_NAME, "helper", "does not accept the login of your credential helper", ": gh auth setup-git;"),
        (PUBLIC, DENIED, "token", "does not accept a push with the token: Permission to acme/shop.git", "setup-git"),
        (OWN, DENIED, "token", "does not accept a push with the token", "gh auth setup-git --hostname git.acme.org"),
        (PUBLIC, DENIED, "address", "does not accept the login of your git", "gh auth login"),
        ("git@github.com:acme/shop.git", NO_KEY, "ssh", "does not accept your ssh key", "`ssh-add`"),
    ],
)
def test_a_refused_login_names_what_was_refused_and_what_helps(
    url: str, err: str, login: Login, message: str, next_step: str
) -> None:
    refused = explain_refusal(url, GitResult(128, b"", err), login)
    assert message in refused.message
    assert next_step in (refused.next_step or "")


def test_a_connection_on_which_nothing_moves_is_one_that_cannot_be_reached() -> None:
    slow = "fatal: unable to access 'https://github.com/': Operation too slow. Less than 1 bytes/sec transferred"
    assert "cannot be reached" in explain_refusal(PUBLIC, GitResult(128, b"", slow)).message
