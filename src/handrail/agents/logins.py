"""The account that an agent is logged in to, as its own files tell it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from handrail.ports.agent_profiles import AgentProfile


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
