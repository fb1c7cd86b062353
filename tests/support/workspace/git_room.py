"""A user's repository, a data folder beside it, and short words for what tests do with both."""

import os
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from handrail.model.history.trees import Tree
from handrail.ports.workspaces import Source
from handrail.workspace.git_workspaces import GitWorkspaces

BASE_FILES = {
    "README.md": "hello\n",
    "src/app.py": "print(1)\nprint(2)\nprint(3)\n",
    ".gitignore": "*.log\n.env\nbuild/\n",
}


def git(where: Path, *words: str, stdin: bytes = b"") -> str:
    done = subprocess.run(["git", *words], cwd=where, input=stdin, capture_output=True, check=False)
    assert not done.returncode, f"git {words}: {done.stderr.decode(errors='replace')}"
    return os.fsdecode(done.stdout).rstrip("\n")


def fill(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def commit(where: Path, message: str = "more", **files: str) -> str:
    fill(where, {name.replace("__", "/").replace("_", "."): text for name, text in files.items()})
    git(where, "add", "-A")
    git(where, "commit", "-qm", message)
    return git(where, "rev-parse", "HEAD")


def listing(folder: Path) -> dict[bytes, tuple[str, bytes]]:
    """Every file below a folder with its kind and content, without git's own."""
    found: dict[bytes, tuple[str, bytes]] = {}
    root = os.fsencode(folder)
    for where, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name != b".git"]
        links = [name for name in folders if Path(os.fsdecode(where + b"/" + name)).is_symlink()]
        for name in (*files, *links):
            full = where + b"/" + name
            if os.path.relpath(full, root) != b".git":
                found[os.path.relpath(full, root)] = _kind(full)
    return found


def _kind(full: bytes) -> tuple[str, bytes]:
    path = Path(os.fsdecode(full))
    if path.is_symlink():
        return "link", os.fsencode(path.readlink())
    return ("run" if path.stat().st_mode & 0o100 else "file"), path.read_bytes()


def everything(folder: Path) -> tuple[object, ...]:
    """Files, index, HEAD and branch of a work tree."""
    head = git(folder, "rev-parse", "--verify", "-q", "HEAD")
    ref = git(folder, "rev-parse", "--symbolic-full-name", "HEAD")
    return listing(folder), git(folder, "ls-files", "-s", "-z"), head, ref


@dataclass(frozen=True)
class GitRoom:
    """One user with one repository."""

    root: Path

    @property
    def repo(self) -> Path:
        return self.root / "shop"

    @property
    def data(self) -> Path:
        return self.root / "data"

    @cached_property
    def spaces(self) -> GitWorkspaces:
        return GitWorkspaces(self.data)

    def make(self, files: dict[str, str] | None = None) -> "GitRoom":
        self.repo.mkdir()
        git(self.repo, "init", "-q", "--template=", "-b", "main")
        fill(self.repo, BASE_FILES if files is None else files)
        git(self.repo, "add", "-A")
        git(self.repo, "commit", "-qm", "start")
        return self

    def source(
        self,
        run: str = "r1",
        *,
        branch: str = "",
        commit: str = "",
        changes: str = "",
        merge: tuple[str, ...] = (),
        copy: tuple[str, ...] = (),
    ) -> Source:
        return Source(
            run=run,
            repository=str(self.repo),
            base="main",
            commit=commit or git(self.repo, "rev-parse", "main"),
            branch=branch or f"work/{run}",
            changes=changes,
            merge=merge,
            copy=copy,
        )

    def prepare(self, run: str = "r1") -> tuple[Tree, Path]:
        tree = self.spaces.prepare(self.source(run))
        return tree, Path(tree.path)

    def source_tree(self, path: Path) -> Tree:
        """The work tree of a run that is gone, as its history names it."""
        commit = git(self.repo, "rev-parse", "main")
        return Tree(path=str(path), repository=str(self.repo), branch=f"work/{path.name}", base="main", commit=commit)

    def borrowed(self) -> Tree:
        head = git(self.repo, "rev-parse", "HEAD")
        return Tree(
            path=str(self.repo), repository=str(self.repo), branch="main", base="main", commit=head, owned=False
        )

    def refs(self, prefix: str = "refs/handrail/") -> list[str]:
        return git(self.repo, "for-each-ref", "--format=%(refname)", prefix).splitlines()


def prepare_three(root: str, first: int) -> None:
    """Make three worktrees, in a process of its own."""
    room = GitRoom(Path(root))
    for number in range(first, first + 3):
        room.prepare(f"p{number}")
