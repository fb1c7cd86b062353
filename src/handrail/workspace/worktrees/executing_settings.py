"""What makes the user's own git start programs: settings of a repository, files that they name, and hooks.

Our git never obeys such settings (`repository_view`), but the user's does, and it works in the same repository.
"""

import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import cast

from handrail.errors import WorkspaceFault
from handrail.frozen import frozen
from handrail.model.history.trees import Tree
from handrail.workspace.git.repositories import common_dir, common_of, find_root, git_dir
from handrail.workspace.git.repository_view import GitSetting, read_settings

_KEYS = (
    r"core\.(hookspath|sshcommand|editor|pager|fsmonitor|askpass|gitproxy|attributesfile|alternaterefscommand)",
    r"alias\..*|pager\..*|sequence\.editor|interactive\.difffilter|hook\..*|gc\.recentobjectshook",
    r"filter\..*|merge\..*\.driver|diff\.external|diff\..*\.(command|textconv)",
    r"(diff|merge)\.(gui)?tool|(difftool|mergetool|guitool|man|browser)\..*\.(cmd|path)",
    r"(web|help)\.browser|man\.viewer|instaweb\..*|gpg\.(.*\.)?(program|defaultkeycommand)",
    r"credential\..*|include\.path|includeif\..*\.path|url\..*\.(push)?insteadof|http\..*|protocol\..*",
    r"remote\..*\.(url|pushurl|uploadpack|receivepack|vcs|proxy)|uploadpack\.packobjectshook",
    r"submodule\..*\.update|branch\..*\.mergeoptions|trailer\..*\.(command|cmd)|tar\..*\.command",
    r"sendemail\..*|imap\.tunnel|init\.templatedir|fetch\.bundleuri",
    r"lfs\.(customtransfer|extension)\..*|lfs\.(.*\.)?(standalonetransferagent|url|pushurl)",
)
"""Keys whose values git runs, or that decide which program or server git uses."""
_EXECUTING = re.compile("|".join(_KEYS), re.DOTALL)
_TARGETS = re.compile(r"branch\..*\.(push)?remote|remote\.pushdefault", re.DOTALL)
"""Keys that usually name a remote; one that holds an address bypasses the remotes."""
_ADDRESS = re.compile(r"remote\..*\.(url|pushurl)", re.DOTALL)
_INCLUDES = re.compile(r"include\.path|includeif\..*\.path", re.DOTALL)
_SECRET = re.compile(r"(credential|http|url|remote|sendemail|imap|lfs)\..*", re.DOTALL)
"""Keys whose values may contain passwords, and are not shown."""
_REPOSITORYS = ("local", "worktree")
_HOOK = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+|update")
_MAX_FILES = 2000
_MAX_SHOWN_LENGTH = 80
_MISSING = "missing"
IN_TREE = " in the work tree"


@frozen
class _Folder:
    """A git folder with settings of its own."""

    where: Path
    own: Path
    label: str = ""
    is_submodule: bool = False


@frozen
class ExecutingSettings:
    """Everything in a repository that makes git start programs."""

    settings: dict[str, tuple[str, ...]]
    """Values of keys, and digests of files."""
    named: tuple[str, ...]
    """Files and folders that the settings name, wherever they are."""


def survey_settings(tree: Tree) -> ExecutingSettings:
    """Find everything in a run's repository that makes git start programs."""
    root, path = find_root(Path(tree.repository)), Path(tree.path)
    common = common_dir(root)
    found: dict[str, tuple[str, ...]] = {}
    hooks: dict[str, None] = {}
    named: dict[str, None] = {}
    for folder in _git_folders(root, path, common):
        for name, value in _read_folder_settings(folder, named):
            found[name] = tuple(dict.fromkeys((*found.get(name, ()), value)))
            if name.startswith("core.hookspath"):
                hooks[value] = None
    found |= _file("info/attributes", common / "info/attributes")
    found |= _hooks(common / "hooks", "hook {}")
    for value in (*hooks, *_users_hooks(root)):
        for base, form in ((root, "hook {}"), (path, f"hook {{}}{IN_TREE}")):
            place = base / Path(value).expanduser()
            named[os.fspath(place)] = None
            found |= _hooks(place, form, base)
    return ExecutingSettings(found, tuple(named))


def sign_settings(tree: Tree, named: Iterable[str]) -> str:
    """Compute a signature that changes when a file that a survey reads is written; reads and starts nothing."""
    root, path = find_root(Path(tree.repository)), Path(tree.path)
    common = common_dir(root)
    seen = sha256()
    for place in _list_watched_paths(root, path, common, named):
        seen.update(f"{place!r} {stamp(place)}\n".encode(errors="backslashreplace"))
    return seen.hexdigest()


def list_watched_paths(tree: Tree, named: Iterable[str]) -> list[str]:
    """List everything on which a signature depends, including what is missing; empty where there are submodules."""
    repository, path = Path(tree.repository), Path(tree.path)
    root = find_root(repository)
    common, of_run = common_dir(root), git_dir(path).resolve()
    modules = [os.fspath(folder / "modules") for folder in (common, of_run)]
    if any(map(os.path.lexists, modules)):
        return []
    roots = (folder / ".git" for folder in (root, repository, path))
    notes = (folder / "commondir" for folder in (git_dir(root), of_run))
    entries = (entry / "config.worktree" for entry in (common / "worktrees").glob("*"))
    places = map(os.fspath, (*roots, *notes, common / "worktrees", *entries))
    return list(dict.fromkeys((*modules, *places, *_list_watched_paths(root, path, common, named))))


def _list_watched_paths(root: Path, path: Path, common: Path, named: Iterable[str]) -> Iterator[str]:
    yield from (os.fspath(common / name) for name in ("config", "info/attributes"))
    folders = [common / "hooks"]
    for folder in _git_folders(root, path, common):
        yield from (os.fspath(folder.own / name) for name in ("config", "config.worktree"))
        folders.append(folder.own / "hooks")
    for place in (*folders, *map(Path, named)):
        yield os.fspath(place)
        is_whole = root.is_relative_to(place) or path.is_relative_to(place)
        for where, inner, names in os.walk(place):
            inner[:] = [] if is_whole else sorted(inner)[:_MAX_FILES]
            yield where
            yield from (os.path.join(where, name) for name in sorted(names)[:_MAX_FILES])  # noqa: PTH118 (for speed)


def stamp(path: str) -> tuple[int, ...]:
    """Return stat data of a file that changes when it is written; empty where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 (several after each step: this is faster)
    except (OSError, ValueError):
        return ()
    # The ctime cannot be set back, unlike the mtime.
    return found.st_mode, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _git_folders(root: Path, path: Path, common: Path) -> Iterator[_Folder]:
    yield _Folder(root, git_dir(root).resolve())
    entries = sorted((common / "worktrees").glob("*/config.worktree"))
    for own in (entry.parent.resolve() for entry in entries):
        yield _Folder(own, own, f" of worktree {own.name}")
    try:
        of_run = git_dir(path).resolve()
    except WorkspaceFault:
        of_run = None
    if of_run is not None and of_run.is_dir() and common_of(of_run) != common:
        yield _Folder(of_run, of_run)
    for place in (common, *(() if of_run is None else (of_run,))):
        for folder in _submodules(place / "modules"):
            yield _Folder(folder, folder, f" of submodule {folder.relative_to(place / 'modules')}", is_submodule=True)


def _submodules(folder: Path) -> Iterator[Path]:
    for where, folders, files in os.walk(folder):
        if "HEAD" in files:
            folders[:] = [name for name in folders if name == "modules"]
            yield Path(where)
        folders.sort()


def _read_folder_settings(folder: _Folder, named: dict[str, None]) -> Iterator[tuple[str, str]]:
    try:
        settings = read_settings(folder.where, folder.own)
    except WorkspaceFault:
        yield f"configuration{folder.label} that git cannot read", _MISSING
        return
    for each in settings:
        if each.scope in _REPOSITORYS and _can_execute(each):
            # A setting that all worktrees share is listed once, without the label of a worktree.
            is_shared = each.scope == "local" and not folder.is_submodule
            yield each.key + ("" if is_shared else folder.label), each.value
            yield from _digest_named_files(folder, each, named)
    if folder.is_submodule:
        for name, digests in _hooks(folder.own / "hooks", f"hook {{}}{folder.label}").items():
            yield name, digests[0]


def _can_execute(each: GitSetting) -> bool:
    return _EXECUTING.fullmatch(each.key) is not None or _TARGETS.fullmatch(each.key) is not None


def is_ordinary(name: str, values: tuple[str, ...] | None, known: Collection[str]) -> bool:
    """Whether a difference is harmless: a new branch, or a new remote with an address and no command.

    A changed target of an existing branch or remote is not: the user's next push goes there.
    """
    if _TARGETS.fullmatch(name):
        plain = values is None or not any(":" in value or "/" in value for value in values)
        return plain and (values is None or (name not in known and name != "remote.pushdefault"))
    if _ADDRESS.fullmatch(name) is None or values is None:
        return False
    remote = name.rpartition(".")[0]
    is_known = any(each.rpartition(".")[0] == remote for each in known)
    return not is_known and not any("::" in value or value.startswith("-") for value in values)


def _digest_named_files(folder: _Folder, each: GitSetting, named: dict[str, None]) -> Iterator[tuple[str, str]]:
    """Yield the files that a setting names; an include counts even while its condition does not hold."""
    if _INCLUDES.fullmatch(each.key):
        base = Path(each.origin.removeprefix("file:")).parent
    elif each.key == "core.attributesfile":
        base = folder.where
    else:
        return
    place = base / Path(each.value).expanduser()
    named[os.fspath(place)] = None
    for name, digests in _file(f"{each.key} {each.value}", place, always=True).items():
        yield f"file of {name}", digests[0]


def _users_hooks(root: Path) -> Iterator[str]:
    """Yield the folders of hooks that the user's own configuration names relative to each checkout."""
    try:
        settings = read_settings(root, git_dir(root).resolve())
    except WorkspaceFault:
        return
    values = (each.value for each in settings if each.key == "core.hookspath" and each.scope not in _REPOSITORYS)
    yield from (value for value in values if not Path(value).expanduser().is_absolute())


def _hooks(folder: Path, form: str, base: Path | None = None) -> dict[str, tuple[str, ...]]:
    """Compute digests of the files in a folder of hooks; if it is a checkout, only of those that git would call."""
    found: dict[str, tuple[str, ...]] = {}
    whole = base is not None and base.resolve().is_relative_to(folder.resolve())
    for path in _files(folder, deep=not whole):
        if path.name.endswith(".sample") or (whole and not _HOOK.fullmatch(path.name)):
            continue
        is_inside = base is not None and path.is_relative_to(base)
        name = path.relative_to(cast("Path", base)) if is_inside else path.relative_to(folder)
        found |= _file(form.format(os.fspath(name)), path)
    return found


def _files(folder: Path, *, deep: bool) -> Iterable[Path]:
    found: list[Path] = []
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(folders) if deep else []
        found += (Path(where, name) for name in sorted(names))
        if len(found) > _MAX_FILES:
            break
    return found[:_MAX_FILES]


def _file(name: str, path: Path, *, always: bool = False) -> dict[str, tuple[str, ...]]:
    """Return the mode and the digest of a file; a missing one is listed as such where it was named."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            digest = sha256(file.read()).hexdigest() if stat.S_ISREG(mode) else "no file"
    except (OSError, ValueError):
        return {name: (_MISSING,)} if always or os.path.lexists(path) else {}
    return {name: (f"{'executable' if mode & 0o111 else 'plain'} {digest}",)}


def describe_setting(name: str, values: tuple[str, ...] | None, *, is_new: bool) -> str:
    """Describe how a setting differs; values that may contain passwords are not shown."""
    how = "removed" if values is None else "new" if is_new else "changed"
    if values is None or name.startswith(("hook ", "file of ", "info/", "configuration")) or _SECRET.fullmatch(name):
        return f"{name} ({how})"
    text = printable(re.sub(r"://[^/@\s]*@", "://", values[-1]))
    return f"{name} = {text if len(text) <= _MAX_SHOWN_LENGTH else text[:_MAX_SHOWN_LENGTH] + '...'} ({how})"


def printable(text: str) -> str:
    """Escape the characters of a text that cannot be printed."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
