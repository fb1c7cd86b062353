"""The repository that issues belong to."""

from pathlib import Path

from handrail.ports.repositories import Repositories


def find_scope(repositories: Repositories, root: Path) -> str:
    """Return the main checkout of the repository of a folder, which all of its worktrees share; else the folder."""
    shared = Path(repositories.observe(root).get("repository") or root)
    return str(shared.parent if shared.name == ".git" else shared)
