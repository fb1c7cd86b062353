"""A repository as it is found: its root, its branches, what is uncommitted. Only ever read."""

import os
from pathlib import Path

from handrail.errors import WorkspaceFault
from handrail.frozen import frozen
from handrail.ports.repositories import Head
from handrail.workspace.git.command import Git, shown, split


@frozen
class Branch:
    """A branch and the worktree that has it checked out."""

    name: str
    commit: str
    worktree: str = ""


def find_root(path: Path) -> Path:
    """Give the root of the checkout that a path lies in."""
    if not path.exists():
        raise WorkspaceFault(f"there is no folder {path}", next_step="name a folder inside a git repository")
    for folder in (path.resolve(), *path.resolve().parents):
        if _is_checkout(folder / ".git"):
            return folder
        if (folder / "HEAD").is_file() and (folder / "objects").is_dir():
            message = f"{folder} is a bare repository: there are no files in it to work on"
            raise WorkspaceFault(message, next_step=f"clone it: git clone {folder}")
    raise WorkspaceFault(f"{path} is not inside a git repository", next_step="run `git init` and commit, or go to one")


def _is_checkout(dot: Path) -> bool:
    """Whether git would take it for a repository: a folder of that name alone is none."""
    return dot.is_file() or (dot / "HEAD").exists()


def git_dir(root: Path) -> Path:
    """Give the git folder of a checkout or worktree, without asking git."""
    dot = root / ".git"
    try:
        if dot.is_dir():
            return dot
        target = os.fsdecode(dot.read_bytes()).removeprefix("gitdir: ").rstrip("\n")
    except OSError as error:
        message = f"{root} is no git worktree (any more): {error.strerror}"
        raise WorkspaceFault(message, next_step="go on with the run to have it made again") from error
    return (root / target).resolve()


def common_dir(root: Path) -> Path:
    """Give the git folder that all worktrees of a repository share."""
    return common_of(git_dir(root))


def common_of(folder: Path) -> Path:
    """Give the git folder that a worktree's own belongs to."""
    note = folder / "commondir"
    return (folder / note.read_text().strip()).resolve() if note.is_file() else folder.resolve()


def head(root: Path) -> Head:
    """Give the commit and the branch of a checkout; one without a commit is refused."""
    git = Git(root)
    ran = git.run("rev-parse", "--verify", "-q", "HEAD^{commit}", ok=(0, 1))
    if ran.code:
        message = f"the repository {root} has no commit yet, so there is nothing to start from"
        raise WorkspaceFault(message, next_step='make one: git add -A && git commit -m "Start"')
    ref = git.asks("symbolic-ref", "-q", "HEAD") or ""
    return Head(ran.out.decode().strip(), ref.removeprefix("refs/heads/"))


def commit_of(git: Git, name: str) -> str:
    """Give the commit that a name stands for."""
    ran = git.run("rev-parse", "--verify", "-q", "--end-of-options", f"{name}^{{commit}}", ok=(0, 1, 128))
    if ran.code:
        message = f"there is no commit `{name}` in {git.where}"
        raise WorkspaceFault(message, next_step="name a branch or a commit that `git log` shows, or fetch it")
    return ran.out.decode().strip()


def default_branch(root: Path) -> str:
    """Give the branch that work usually starts from: the remote's, else main or master, else the one checked out."""
    git = Git(root)
    remote = git.asks("symbolic-ref", "-q", "--short", "refs/remotes/origin/HEAD")
    wished = git.asks("config", "--get", "init.defaultBranch")
    known = {branch.name for branch in branches(git)}
    names = ((remote or "").removeprefix("origin/"), wished, "main", "master")
    return next((name for name in names if name and name in known), head(root).branch)


def branches(git: Git, *patterns: str) -> tuple[Branch, ...]:
    """List branches, all or those whose full names match."""
    form = "--format=%(refname)%00%(objectname)%00%(worktreepath)%00"
    fields = git.line("for-each-ref", form, *(patterns or ("refs/heads/",))).split("\0")
    rows = zip(fields[::3], fields[1::3], fields[2::3], strict=False)
    return tuple(Branch(ref.strip("\n").removeprefix("refs/heads/"), commit, path) for ref, commit, path in rows)


def uncommitted(root: Path) -> tuple[str, ...]:
    """List the files of a checkout that differ from HEAD or are not tracked."""
    listing = split(Git(root).out("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all"))
    return tuple(shown(entry[3:]) for entry in listing)
