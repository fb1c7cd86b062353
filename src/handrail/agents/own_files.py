"""What an agent's own files on this machine tell: where its data is, and which account it is logged in to."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from handrail.ports.agent_profiles import AgentProfile


def find_config_folders(profile: AgentProfile, env: Mapping[str, str]) -> tuple[Path, ...]:
    """Find the folders and files of an agent in the environment that it gets, as far as they exist."""
    named = env.get(profile.config.variable, "")
    home = Path(env.get("HOME", "/"))
    paths = (Path(named),) if named else tuple(home / path for path in profile.config.paths)
    return tuple(path for path in paths if path.exists())


def find_account(profile: AgentProfile, environ: Mapping[str, str]) -> str:
    """Find the name of the account that an agent is logged in to; nothing where its files do not tell."""
    place = profile.login.account
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
