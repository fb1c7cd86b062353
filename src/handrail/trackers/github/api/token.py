"""Finds the token for a GitHub: in the environment of a run, from the `gh` program, or in the keyring."""

import os
from collections.abc import Callable, Mapping
from dataclasses import field
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec

from handrail.errors import NoToken
from handrail.frozen import frozen
from handrail.processes.machine_tools import output_of
from handrail.trackers.github.api.endpoint import PUBLIC, Endpoint, GitHubSetting, configured_endpoint
from handrail.trackers.github.api.variables import ACTIONS, API_URL, ENTERPRISE_TOKENS, NAMES, PUBLIC_TOKENS

KEYRING = "handrail"
"""The service under which the keyring has a token; the user name is the host."""
_INSTALLATION = "ghs_"

Ask = Callable[[str, tuple[str, ...], Mapping[str, str]], str | None]


@frozen
class Token:
    """A token, and where it was found; it is never shown."""

    value: str = field(repr=False)
    source: str

    @property
    def fingerprint(self) -> str:
        """Tells tokens apart without revealing them."""
        return sha256(f"github:{self.value}".encode()).hexdigest()[:16]

    def starts_no_checks(self, environ: Mapping[str, str]) -> bool:
        """Whether pushes and pull requests made with it start no workflows: GitHub Actions gave it to a job."""
        return environ.get(ACTIONS) == "true" and self.value.startswith(_INSTALLATION)


def find_token(endpoint: Endpoint, environ: Mapping[str, str], ask: Ask = output_of) -> Token | None:
    """Find the token for a GitHub; None if there is none."""
    for name in _variables(endpoint, environ):
        value = environ.get(name, "").strip()
        if value:
            return Token(value, name)
    return _ask_gh(endpoint, environ, ask) or _ask_keyring(endpoint)


def missing_token(endpoint: Endpoint) -> NoToken:
    """Build the error for a GitHub without a token."""
    variable = PUBLIC_TOKENS[0] if endpoint.is_public or endpoint.is_loopback else ENTERPRISE_TOKENS[0]
    login = "gh auth login" if endpoint.host == PUBLIC else f"gh auth login --hostname {endpoint.host}"
    next_step = f"{login}, or set {variable}"
    return NoToken(f"there is no token for {endpoint.host}", next_step=next_step)


def _variables(endpoint: Endpoint, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Name the variables whose token is meant for a GitHub: one for github.com is never sent to another host."""
    if endpoint.is_public:
        return PUBLIC_TOKENS
    is_named = bool(environ.get(API_URL)) and configured_endpoint(environ, GitHubSetting()).rest == endpoint.rest
    return (*ENTERPRISE_TOKENS, *(PUBLIC_TOKENS if is_named or endpoint.is_loopback else ()))


def _ask_gh(endpoint: Endpoint, environ: Mapping[str, str], ask: Ask) -> Token | None:
    # `gh` would return a token of this process's environment, which is not that of the run.
    seen = {**{name: value for name, value in os.environ.items() if name not in NAMES}, **environ}
    printed = ask("gh", ("auth", "token", "--hostname", endpoint.host), seen)
    value = (printed or "").strip()
    return Token(value, "gh auth token") if value and len(value.split()) == 1 else None


def _ask_keyring(endpoint: Endpoint) -> Token | None:
    """Look into the keyring, where the optional package `keyring` is installed."""
    if find_spec("keyring") is None:
        return None
    try:
        value = import_module("keyring").get_password(KEYRING, endpoint.host)
    except Exception:  # noqa: BLE001 (whatever a keyring on this machine raises, there is no token in it for us)
        return None
    return Token(value, "the keyring") if isinstance(value, str) and value else None
