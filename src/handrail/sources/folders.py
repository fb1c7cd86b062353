"""Where Handrail stores a user's files, and where a repository begins."""

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
    """Contains `config.toml` and `workflows/`."""
    data: Path
    """Contains what Handrail itself writes."""

    @property
    def workflows(self) -> Path:
        """The user's own workflows."""
        return self.config / "workflows"


def user_folders(environ: Mapping[str, str]) -> Folders:
    """Return the user's folders: all under HANDRAIL_HOME where it is set, else the system's usual places."""
    home = environ.get(HOME)
    if home:
        root = Path(home).expanduser().absolute()
        return Folders(root, root / "data")
    from platformdirs import user_config_path, user_data_path  # noqa: PLC0415 (many commands run without it)

    return Folders(user_config_path("handrail"), user_data_path("handrail"))


def folder_variables(data: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables by which another process finds the same folders, whatever else its environment contains."""
    if data.name == "data":
        return {HOME: str(data.parent.absolute())}
    return {name: environ[name] for name in _PLACES if name in environ}


def repository_root(start: Path) -> Path | None:
    """Find the nearest folder, from here upwards, that contains `.git` or `.handrail`."""
    here = start.absolute()
    for folder in (here, *here.parents):
        if any((folder / mark).exists() for mark in MARKS):
            return folder
    return None


def trust_root(path: Path) -> Path | None:
    """Find the repository under which trust in a file is recorded: that of git, else the folder of its `.handrail`.

    A linked worktree counts as the repository that it belongs to, a submodule as a repository of its own.
    """
    for folder in path.parents:
        if (folder / ".git").exists():
            return main_checkout(folder)
    return next((folder for folder in path.parents if (folder / ".handrail").is_dir()), None)


def main_checkout(root: Path) -> Path:
    """Return the checkout that a linked worktree belongs to; any other root is its own.

    Anybody can write a `.git` file that names a repository, so it counts only where that repository names it too.
    """
    pointer = root / ".git"
    try:
        if not pointer.is_file():
            return root
        own = (root / pointer.read_text("utf-8").removeprefix("gitdir:").strip()).resolve()
        common = (own / (own / "commondir").read_text("utf-8").strip()).resolve()
        named = Path((own / "gitdir").read_text("utf-8").strip())
        if own.parent != common / "worktrees" or named.resolve() != pointer.resolve():
            return root
    except (OSError, ValueError, RuntimeError):
        return root
    return common.parent if common.name == ".git" else common
