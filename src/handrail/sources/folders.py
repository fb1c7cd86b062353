"""Where Handrail keeps a user's files, and where a repository begins."""

from collections.abc import Mapping
from pathlib import Path

from handrail.frozen import frozen

HOME = "HANDRAIL_HOME"
MARKS = (".git", ".handrail")
_PLACES = ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")
"""Variables by which the user's folders are found where they are not named."""


@frozen
class Folders:
    """The user's own folders; nothing in them comes from a repository."""

    config: Path
    """Holds `config.toml` and `workflows/`."""
    data: Path
    """Holds what Handrail itself writes."""

    @property
    def workflows(self) -> Path:
        """The user's own workflows."""
        return self.config / "workflows"


def user_folders(environ: Mapping[str, str]) -> Folders:
    """Give the user's folders: all under HANDRAIL_HOME where it is set, else where the system keeps such files."""
    home = environ.get(HOME)
    if home:
        root = Path(home).expanduser().absolute()
        return Folders(root, root / "data")
    from platformdirs import user_config_path, user_data_path  # noqa: PLC0415 (many commands run without it)

    return Folders(user_config_path("handrail"), user_data_path("handrail"))


def folder_variables(data: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Give the variables by which another process finds the same folders, whatever else its environment holds."""
    if data.name == "data":
        return {HOME: str(data.parent.absolute())}
    return {name: environ[name] for name in _PLACES if name in environ}


def repository_root(start: Path) -> Path | None:
    """Find the nearest folder, from here upwards, that holds `.git` or `.handrail`."""
    here = start.absolute()
    for folder in (here, *here.parents):
        if any((folder / mark).exists() for mark in MARKS):
            return folder
    return None
