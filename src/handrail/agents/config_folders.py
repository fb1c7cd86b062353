"""Where agents keep their own matters (login, conversations, caches): in a sandbox they may write there."""

from collections.abc import Mapping
from pathlib import Path

_CLAUDE = (".claude", ".claude.json", ".cache/claude-cli-nodejs", ".local/state/claude")
_OPENCODE = (".config/opencode", ".local/share/opencode", ".local/state/opencode", ".cache/opencode")
FOLDERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "claude": ("CLAUDE_CONFIG_DIR", _CLAUDE),
    "codex": ("CODEX_HOME", (".codex",)),
    "gemini": ("", (".gemini",)),
    "opencode": ("", _OPENCODE),
}
"""By the name of the agent: the variable that names its folder, and where that is otherwise, seen from the home."""


def own_folders(agent: str, env: Mapping[str, str]) -> tuple[Path, ...]:
    """Give the folders and files of an agent in the environment that it gets, as far as they are there."""
    variable, usual = FOLDERS.get(agent, ("", ()))
    named = env.get(variable, "")
    paths = (Path(named),) if named else tuple(Path(env.get("HOME", "/")) / name for name in usual)
    return tuple(path for path in paths if path.exists())
