"""A repository as it is found: its root, its branches, its uncommitted files. It is never changed here."""

import os
from pathlib import Path

from handrail.errors import WorkspaceFault
from handrail.frozen import frozen
from handrail.ports.repositories import Head
from handrail.workspace.git.command import Git, decode_path, split


@frozen
class Branch:
    """A branch and the worktree that has it checked out."""

    name: str
    commit: str
    worktree: str = ""


def find_root(path: Path) -> Path:
    """Find the root of the checkout around a path."""
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
    """Whether git would accept it as a repository: a folder of that name alone is not enough."""
    return dot.is_file() or (dot / "HEAD").exists()


def git_dir(root: Path) -> Path:
    """Return the git folder of a checkout or worktree, without running git."""
    found = read_git_dir(root)
    if found == root / ".git":
        _refuse_diversion(found)
    return found


def read_git_dir(root: Path) -> Path:
    """Return the folder that `.git` is or names, whatever it is."""
    dot = root / ".git"
    try:
        if dot.is_dir():
            return dot
        target = os.fsdecode(dot.read_bytes()).removeprefix("gitdir: ").rstrip("\n")
    except OSError as error:
        message = f"{root} is not a git worktree: {error.strerror}"
        raise WorkspaceFault(message, next_step="resume the run: it is created again") from error
    return (root / target).resolve()


def _refuse_diversion(dot: Path) -> None:
    """Refuse a checkout whose settings and hooks are elsewhere: git writes such a note only for linked worktrees."""
    if os.path.lexists(dot / "commondir") and common_of(dot) not in (dot.resolve(), _repository_around(dot)):
        message = (
            f"{dot / 'commondir'} makes git read its settings and hooks from elsewhere; git itself never writes it"
        )
        raise WorkspaceFault(message, next_step="find out who wrote that file and remove it, then try again")


def _repository_around(dot: Path) -> Path | None:
    """Return the repository of a linked worktree's git folder, where `.git` links to that: git wrote the note there."""
    entry = dot.resolve()
    return entry.parent.parent if dot.is_symlink() and entry.parent.name == "worktrees" else None


def common_dir(root: Path) -> Path:
    """Return the git folder that all worktrees of a repository share."""
    return common_of(git_dir(root))


def common_of(folder: Path) -> Path:
    """Return the shared git folder to which a worktree's own belongs."""
    note = folder / "commondir"
    return (folder / note.read_text(errors="surrogateescape").strip()).resolve() if note.is_file() else folder.resolve()


def list_checkouts(root: Path) -> tuple[Path, ...]:
    """List the root of a checkout and those that share its git folder: the main one, and its linked worktrees."""
    common = common_dir(root)
    notes = [(entry, entry / "gitdir") for entry in sorted((common / "worktrees").glob("*"))]
    linked = [(entry / os.fsdecode(note.read_bytes()).rstrip("\n")).parent for entry, note in notes if note.is_file()]
    first = [common.parent] if common.name == ".git" else []
    return tuple(dict.fromkeys((root, *(each.resolve() for each in (*first, *linked)))))


def is_entry_of(own: Path, root: Path) -> bool:
    """Whether a git folder itself names a root as its linked worktree: anybody can write a `.git` file."""
    try:
        named = own / os.fsdecode((own / "gitdir").read_bytes()).rstrip("\n")
        return named.parent.resolve() / named.name == root.resolve() / ".git"
    except (OSError, ValueError):
        return False


def head(git: Git) -> Head:
    """Return the commit and the branch of a checkout; one without a commit is refused."""
    ran = git.run("rev-parse", "--verify", "-q", "HEAD^{commit}", ok=(0, 1))
    if ran.code:
        message = f"the repository {git.where} has no commit yet, so there is nothing to start from"
        raise WorkspaceFault(message, next_step='create one: git add -A && git commit -m "Start"')
    ref = git.query("symbolic-ref", "-q", "HEAD") or ""
    return Head(ran.out.decode().strip(), ref.removeprefix("refs/heads/"))


def commit_of(git: Git, name: str) -> str:
    """Resolve a name to a commit."""
    ran = git.run("rev-parse", "--verify", "-q", "--end-of-options", f"{name}^{{commit}}", ok=(0, 1, 128))
    if ran.code:
        message = f"there is no commit `{name}` in {git.where}"
        raise WorkspaceFault(message, next_step="name a branch or a commit that `git log` shows, or fetch it")
    return ran.out.decode().strip()


def default_branch(git: Git) -> str:
    """Return the branch that work usually starts from: the remote's, else main or master, else the one checked out."""
    remote = git.query("symbolic-ref", "-q", "--short", "refs/remotes/origin/HEAD")
    wished = git.query("config", "--get", "init.defaultBranch")
    known = {branch.name for branch in branches(git)}
    names = ((remote or "").removeprefix("origin/"), wished, "main", "master")
    return next((name for name in names if name and name in known), head(git).branch)


def branches(git: Git, *patterns: str) -> tuple[Branch, ...]:
    """List branches, all or those whose full names match."""
    form = "--format=%(refname)%00%(objectname)%00"
    fields = git.line("for-each-ref", form, *(patterns or ("refs/heads/",))).split("\0")
    places = checkouts_by_branch(common_dir(git.where))
    rows = ((ref.strip("\n"), commit) for ref, commit in zip(fields[::2], fields[1::2], strict=False))
    return tuple(Branch(ref.removeprefix("refs/heads/"), commit, places.get(ref, "")) for ref, commit in rows)


def checkouts_by_branch(common: Path) -> dict[str, str]:
    """Map the full names of branches to the folders in which they are checked out."""
    found = {_read_head_branch(entry): _folder_of(entry) for entry in sorted((common / "worktrees").glob("*"))}
    if common.name == ".git" or (common / "index").exists():
        found[_read_head_branch(common)] = str(common.parent if common.name == ".git" else common)
    return {ref: folder for ref, folder in found.items() if ref and folder}


def _read_head_branch(folder: Path) -> str:
    """Return the branch that HEAD of a git folder names."""
    try:
        text = os.fsdecode((folder / "HEAD").read_bytes())
    except OSError:
        return ""
    return text.removeprefix("ref: ").strip() if text.startswith("ref: ") else ""


def _folder_of(entry: Path) -> str:
    try:
        return os.fsdecode((entry / "gitdir").read_bytes()).rstrip("\n").removesuffix("/.git")
    except OSError:
        return ""


def list_uncommitted(git: Git) -> tuple[str, ...]:
    """List the files of a checkout that differ from HEAD or are not tracked."""
    words = ("--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=dirty")
    return tuple(decode_path(entry[3:]) for entry in split(git.out("status", *words)))
