"""How to tell whether an agent is logged in, without a token spent: its variables, its files, or its own word."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from handrail.frozen import frozen


@frozen
class AccountFile:
    """Where an agent keeps the name of the account that it is logged in to, beside what it logs in with."""

    variable: str
    """Names the folder, where it is set."""
    folder: str
    """The folder otherwise, as a path from the user's home."""
    file: str
    keys: tuple[str, ...]
    """What leads to the name."""


@frozen
class Login:
    """Where an agent's login shows."""

    variables: tuple[str, ...] = ()
    """Any of these being set is a login."""
    files: tuple[str, ...] = ()
    """Any of these being there is one, as paths from the user's home."""
    asks: tuple[str, ...] = ()
    """What the program is asked otherwise: it ends with 0 when it is logged in, with 1 when it is not."""
    way: str = ""
    """How a person logs in."""
    account: AccountFile | None = None


_CLOUDS = ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX")
LOGINS: dict[str, Login] = {
    "claude": Login(
        ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", *_CLOUDS),
        asks=("auth", "status"),
        way="claude auth login",
        account=AccountFile("CLAUDE_CONFIG_DIR", "", ".claude.json", ("oauthAccount", "accountUuid")),
    ),
    "codex": Login(
        ("CODEX_API_KEY",),
        asks=("login", "status"),
        way="codex login",
        account=AccountFile("CODEX_HOME", ".codex", "auth.json", ("tokens", "account_id")),
    ),
    "gemini": Login(
        ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"),
        (".gemini/oauth_creds.json", ".gemini/gemini-credentials.json"),
        way="gemini",
        account=AccountFile("", ".gemini", "google_accounts.json", ("active",)),
    ),
    "opencode": Login(
        ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"),
        (".local/share/opencode/auth.json",),
        way="opencode auth login",
    ),
}
"""By the name of the agent; of an agent without a row nothing is known."""


def account_in(agent: str, environ: Mapping[str, str]) -> str:
    """Give the name of the account that an agent is logged in to; nothing where its files do not tell."""
    login = LOGINS.get(agent)
    place = None if login is None else login.account
    if place is None:
        return ""
    folder = environ.get(place.variable) or f"{environ.get('HOME', '')}/{place.folder}"
    try:
        found: object = json.loads((Path(folder) / place.file).read_bytes())
    except (OSError, ValueError, RecursionError):
        return ""
    for key in place.keys:
        found = cast("dict[str, object]", found).get(key) if isinstance(found, dict) else None
    return found if isinstance(found, str) else ""
