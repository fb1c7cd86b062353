"""What an agent's own files on this machine show: where its data is, and which account it is logged in to, if any."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from handrail.ports.agent_profiles import AccountFile, AgentProfile
from handrail.processes.environment import SECRET, has_matching_glob
from handrail.processes.machine_tools import exit_code_of


def find_config_folders(profile: AgentProfile, env: Mapping[str, str]) -> tuple[Path, ...]:
    """Find the folders and files of an agent in the environment that it gets, as far as they exist."""
    named = env.get(profile.config.variable, "")
    home = Path(env.get("HOME", "/"))
    paths = (Path(named),) if named else tuple(home / path for path in profile.config.paths)
    return tuple(path for path in paths if path.exists())


def find_account(profile: AgentProfile, environ: Mapping[str, str]) -> str:
    """Find the name of the account that an agent is logged in to; empty where its files do not show it."""
    return _read(profile.login.account, environ)


def login_hint(profile: AgentProfile, argv: tuple[str, ...], environ: Mapping[str, str]) -> str:
    """Return how a person logs in where an agent, so started, is certainly not logged in; empty where it is, or may be.

    Its program is run only where neither variables nor files show a login, and only a clear denial counts as none.
    """
    login = profile.login
    if not login.asks or any(environ.get(name) for name in login.variables) or _has_key(profile, environ):
        return ""
    home = Path(environ.get("HOME") or "/")
    if any((home / each).exists() for each in login.files) or _read(login.account, environ):
        return ""
    program = next((word for word in argv if Path(word).name == profile.program), argv[0])
    if _read(login.elsewhere, environ) or exit_code_of(program, login.asks, environ) != 1:
        return ""
    return f"{login.way}, or set {login.variables[0]}" if login.variables else login.way


def _has_key(profile: AgentProfile, environ: Mapping[str, str]) -> bool:
    """Whether a variable of the vendor contains a secret, which may be a login of a kind that is not known here."""
    names = profile.variables_in(environ)
    return any(
        value and has_matching_glob(name, names) and has_matching_glob(name.upper(), SECRET)
        for name, value in environ.items()
    )


def _read(place: AccountFile | None, environ: Mapping[str, str]) -> str:
    """Read the text at a place in an agent's own files; empty where there is none."""
    if place is None:
        return ""
    folder = environ.get(place.variable) or f"{environ.get('HOME', '')}/{place.folder}"
    try:
        data = (Path(folder) / place.file).read_bytes()
        found: object = tomllib.loads(data.decode()) if place.file.endswith(".toml") else json.loads(data)
    except (OSError, ValueError, RecursionError):
        return ""
    for key in place.keys:
        found = cast("dict[str, object]", found).get(key) if isinstance(found, dict) else None
    return found if isinstance(found, str) else ""
