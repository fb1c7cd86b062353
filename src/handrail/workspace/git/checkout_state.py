"""What can be read of a checkout without running git: its branch, its commit, and its repository."""

from pathlib import Path

from handrail.errors import WorkspaceFault
from handrail.workspace.git.repositories import common_dir, find_root, git_dir

_REF = "ref: "
_BRANCHES = "refs/heads/"
_HEX = frozenset("0123456789abcdef")
MAX_LENGTH = 1024
"""The longest name or path that is recorded, in characters."""


def observe_checkout(folder: Path) -> dict[str, str]:
    """Return `root`, `repository`, `branch` and `head` of the checkout around a folder, as far as they are known.

    `repository` is the same for all worktrees of one repository.
    """
    try:
        root = find_root(folder)
        shared = common_dir(root)
        seen = {"root": str(root), "repository": str(shared), **_head(git_dir(root), shared)}
    except (WorkspaceFault, OSError, ValueError):
        return {}
    return {name: value for name, value in seen.items() if value and len(value) <= MAX_LENGTH and value.isprintable()}


def _head(own: Path, shared: Path) -> dict[str, str]:
    text = (own / "HEAD").read_text("utf-8").strip()
    if not text.startswith(_REF):
        return {"head": text if _is_commit(text) else ""}
    ref = text.removeprefix(_REF).strip()
    branch = ref.removeprefix(_BRANCHES) if ref.startswith(_BRANCHES) else ""
    return {
        "branch": branch,
        "head": _read_loose_ref(own, ref) or _read_loose_ref(shared, ref) or _read_packed_ref(shared, ref),
    }


def _read_loose_ref(folder: Path, ref: str) -> str:
    path = folder / ref
    if not path.resolve().is_relative_to(folder.resolve()) or not path.is_file():
        return ""
    with path.open("rb") as file:
        text = file.read(200).decode("ascii", "replace").strip()
    return text if _is_commit(text) else ""


def _read_packed_ref(shared: Path, ref: str) -> str:
    try:
        with (shared / "packed-refs").open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                commit, _, name = line.rstrip("\n").partition(" ")
                if name == ref and _is_commit(commit):
                    return commit
    except FileNotFoundError:
        pass
    return ""


def _is_commit(text: str) -> bool:
    return len(text) in (40, 64) and _HEX.issuperset(text)
