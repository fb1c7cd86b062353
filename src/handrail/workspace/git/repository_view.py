"""A view of a repository that git can work with, and that no setting of the repository can influence.

A view is a folder that replaces the part of a git folder which all worktrees share (`GIT_COMMON_DIR`). Refs and
reflogs are links to the real ones, and the objects are read and written where they are. The configuration is written
here: of the repository's own settings only plain data is taken over, and only the user's own configuration
(global and system) may name a filter. So there are no remotes, hooks, drivers or includes, whatever `.git/config` or
`config.worktree` says: what an agent or the author of a repository configured is never executed.

The view of a run's worktree is made once, before anybody works there. That of a user's checkout follows its settings.
"""

import fcntl
import json
import os
import re
import shutil
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from handrail.errors import WorkspaceFault
from handrail.frozen import frozen
from handrail.workspace.git.command import Git, GitFolders
from handrail.workspace.git.repositories import common_of, git_dir, is_entry_of, read_git_dir

CONFIG, SOURCES = "config", "sources.json"
IGNORE, ATTRIBUTES = "user-ignore", "user-attributes"
"""Copies of the files that the user's own configuration names."""
OWN_IGNORE, OWN_ATTRIBUTES = "info/exclude", "own-attributes"
"""Copies of `info/exclude` and `info/attributes`; the attributes in force are those in `info/attributes`."""
_LINKS = ("refs", "packed-refs", "logs", "shallow", "reftable")
_COPIES = (IGNORE, ATTRIBUTES, OWN_IGNORE, OWN_ATTRIBUTES, "info/attributes")
_DATA = re.compile(
    r"core\.(filemode|symlinks|ignorecase|precomposeunicode|autocrlf|eol|sparsecheckout|sparsecheckoutcone"
    r"|sharedrepository|bigfilethreshold|compression|loosecompression|protecthfs|protectntfs|checkroundtripencoding)"
    r"|extensions\.(objectformat|refstorage)|merge\.(renames|renamelimit|directoryrenames|conflictstyle)"
    r"|diff\.(renames|renamelimit|algorithm)|init\.defaultbranch|lfs\.storage"
)
"""Settings that control how files are read and written, and start nothing."""
_USERS_OWN = re.compile(r"(filter|lfs)\..*", re.DOTALL)
"""Settings that only the user's own configuration may define."""
_OWN_SCOPES = ("system", "global")
_MAX_LENGTH = 16 << 20


@frozen
class GitSetting:
    """One entry of git's configuration."""

    scope: str
    origin: str
    key: str
    value: str


def open_view(root: Path, folder: Path, *, fixed: bool = False) -> GitFolders:
    """Return the view of a checkout, made in a folder of ours; a fixed one is never updated."""
    if fixed:
        _require_entry_of(root, read_git_dir(root).resolve())
    own = git_dir(root).resolve()
    view = GitFolders(folder, own, common_of(own))
    if not _is_current(view, fixed=fixed):
        make_view(view, read_settings(root, own))
    return view


def copy_view(given: GitFolders, root: Path, folder: Path) -> GitFolders:
    """Make the view of a new worktree from that of the checkout it is made from."""
    own = git_dir(root).resolve()
    view = GitFolders(folder, own, common_of(own))
    _install(view, lambda draft: _copy_files(given.folder, draft, folder))
    return view


def make_view(view: GitFolders, settings: Iterable[GitSetting]) -> None:
    """Write a view from scratch."""
    known = tuple(settings)
    _install(view, lambda draft: _fill(view, draft, known))


def read_settings(root: Path, own: Path) -> tuple[GitSetting, ...]:
    """List git's configuration in a checkout; reading it starts nothing."""
    words = ("config", "-z", "--list", "--show-scope", "--show-origin")
    fields = os.fsdecode(Git(root, own=own).out(*words)).split("\0")
    rows = zip(fields[::3], fields[1::3], fields[2::3], strict=False)
    pairs = ((scope, origin, *entry.partition("\n")) for scope, origin, entry in rows)
    # A key without a value means true.
    return tuple(GitSetting(scope, origin, key, value if told else "true") for scope, origin, key, told, value in pairs)


def _require_entry_of(root: Path, own: Path) -> None:
    """Refuse a worktree of ours whose `.git` was changed to name another git folder, such as that of the user's own."""
    if not (root / ".git").is_symlink() and is_entry_of(own, root):
        return
    entries = (common_of(own) / "worktrees").glob("*")
    entry = next((each for each in entries if is_entry_of(each, root)), None)
    message = f"{root}/.git leads to {own}, which is not the git folder that was created for this worktree"
    again = f"put it back: rm {root}/.git; echo 'gitdir: {entry}' > {root}/.git; then resume the run"
    raise WorkspaceFault(message, next_step=again if entry else "resume the run: it is created again")


def find_remote(root: Path, branch: str) -> str:
    """Return the remote of a branch, else `origin`, else the only one; empty where that is not clear."""
    return _choose_remote(_settings(root), branch)


def find_remote_url(root: Path, branch: str) -> str:
    """Return the URL of the remote of a branch; empty where there is none."""
    settings = _settings(root)
    return settings.get(f"remote.{_choose_remote(settings, branch)}.url", "")


def _settings(root: Path) -> dict[str, str]:
    return {each.key: each.value for each in read_settings(root, git_dir(root))}


def _choose_remote(settings: dict[str, str], branch: str) -> str:
    known = [key[len("remote.") : -len(".url")] for key in settings if re.fullmatch(r"remote\..+\.url", key, re.DOTALL)]
    wished = (settings.get(f"branch.{branch}.remote", ""), "origin", *(known if len(known) == 1 else ()))
    return next((name for name in wished if name in known), "")


def _is_current(view: GitFolders, *, fixed: bool) -> bool:
    try:
        linked = (view.folder / "refs").readlink()
    except OSError:
        return False
    if linked != view.common / "refs":
        if fixed:
            message = f"{view.own} belongs to a different repository from the one that its worktree was created from"
            raise WorkspaceFault(message, next_step="resume the run: it is created again")
        return False
    return fixed or _read_stamps(view.folder / SOURCES) == _stamps(_read_stamps(view.folder / SOURCES))


def list_sources(view: GitFolders) -> list[str]:
    """List the files from which a view was made."""
    return list(_read_stamps(view.folder / SOURCES))


def _read_stamps(path: Path) -> dict[str, list[int]]:
    try:
        return cast("dict[str, list[int]]", json.loads(path.read_text("utf-8", "surrogateescape")))
    except (OSError, ValueError):
        return {"": [0]}


def _stamps(paths: Iterable[str]) -> dict[str, list[int]]:
    return {path: _stamp(path) for path in paths}


def _stamp(path: str) -> list[int]:
    try:
        found = os.stat(path)  # noqa: PTH116 (several for each command: this is faster)
    except (OSError, ValueError):
        return []
    return [found.st_mtime_ns, found.st_size, found.st_ino]


def _install(view: GitFolders, fill: Callable[[Path], None]) -> None:
    """Install a view atomically: another process may be using the existing one."""
    view.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _lock_view(view.folder):
        draft = view.folder.with_name(f"{view.folder.name}.draft")
        shutil.rmtree(draft, ignore_errors=True)
        (draft / "info").mkdir(mode=0o700, parents=True)
        for name in _LINKS:
            # Git creates what is missing, but not through a link.
            if name in ("refs", "packed-refs") or (view.common / name).exists():
                (draft / name).symlink_to(view.common / name)
        fill(draft)
        _exchange(draft, view.folder)
        shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def _lock_view(folder: Path) -> Generator[None]:
    """Lock a view against concurrent writes; the folder around it is the lock, so nothing is left behind."""
    descriptor = os.open(folder.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _exchange(draft: Path, folder: Path) -> None:
    """Replace the files of a view one by one, each atomically; a folder that is not empty cannot be replaced."""
    try:
        draft.rename(folder)
    except OSError:
        (folder / "info").mkdir(exist_ok=True)
        for path in sorted(draft.rglob("*"), key=lambda each: each.name == SOURCES):
            if path.is_symlink() or not path.is_dir():
                path.replace(folder / path.relative_to(draft))


def _fill(view: GitFolders, draft: Path, settings: tuple[GitSetting, ...]) -> None:
    named = {each.key: each.value for each in settings if each.scope in _OWN_SCOPES}
    ignore = _path(named.get("core.excludesfile")) or _default("ignore")
    attributes = _path(named.get("core.attributesfile")) or _default("attributes")
    info = view.common / "info"
    sources = (ignore, attributes, info / "exclude", info / "attributes")
    for source, name in zip((*sources, info / "attributes"), _COPIES, strict=True):
        _copy(source, draft / name)
    (draft / CONFIG).write_text(_config(view, settings), "utf-8", "surrogateescape")
    origins = (each.origin.removeprefix("file:") for each in settings if each.origin.startswith("file:"))
    watched = (*origins, *_config_files(view), *sources)
    text = json.dumps(_stamps(dict.fromkeys(map(str, watched))))
    (draft / SOURCES).write_text(text, "utf-8", "surrogateescape")


def _copy_files(given: Path, draft: Path, folder: Path) -> None:
    for name in (SOURCES, *_COPIES):
        _copy(given / name, draft / name)
    names = ("core.excludesfile", IGNORE), ("core.attributesfile", ATTRIBUTES)
    lines = "".join(_line(key, str(folder / name)) for key, name in names)
    (draft / CONFIG).write_bytes((given / CONFIG).read_bytes() + os.fsencode(lines))


def _copy(source: Path, target: Path) -> None:
    """Copy a small file; one that is missing, or not a file, counts as empty."""
    try:
        descriptor = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            target.write_bytes(file.read(_MAX_LENGTH))
    except OSError:
        target.write_bytes(b"")


def _config_files(view: GitFolders) -> Iterator[Path]:
    """Yield the files in which git looks for settings."""
    yield from (view.common / "config", view.own / "config.worktree", Path("/etc/gitconfig"))
    yield from (Path.home() / ".gitconfig", _default("config"), view.common / "logs", view.common / "shallow")


def _default(name: str) -> Path:
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "git" / name


def _path(value: str | None) -> Path | None:
    return Path(value).expanduser() if value else None


def _config(view: GitFolders, settings: tuple[GitSetting, ...]) -> str:
    kept = [each for each in settings if _DATA.fullmatch(each.key)]
    kept += [each for each in settings if each.scope in _OWN_SCOPES and _USERS_OWN.fullmatch(each.key)]
    chosen = [(each.key, each.value) for each in kept if each.key != "lfs.storage"]
    chosen += _base_settings(view, {each.key: each.value for each in settings})
    return "".join(_line(key, value) for key, value in chosen)


def _base_settings(view: GitFolders, found: dict[str, str]) -> Iterator[tuple[str, str]]:
    extended = any(key.startswith("extensions.") and _DATA.fullmatch(key) for key in found)
    partial = any(key == "extensions.partialclone" or key.endswith(".promisor") for key in found)
    yield from (("core.repositoryformatversion", "1" if extended else "0"), ("core.bare", "false"))
    yield from (
        ("core.excludesfile", str(view.folder / IGNORE)),
        ("core.attributesfile", str(view.folder / ATTRIBUTES)),
    )
    yield ("core.logallrefupdates", "true" if (view.common / "logs").is_dir() else "false")
    # Git LFS looks for its files beside the configuration, and gets no server to fetch others from.
    yield ("lfs.storage", str(view.common / found.get("lfs.storage", "lfs")))
    yield ("lfs.skipdownloaderrors", "true")
    yield ("handrail.origin", "true" if "remote.origin.url" in found else "false")
    yield ("handrail.partial", "true" if partial else "false")


def _line(key: str, value: str) -> str:
    section, _, rest = key.partition(".")
    sub, dot, name = rest.rpartition(".")
    head = f'[{section} "{_escape(sub)}"]' if dot else f"[{section}]"
    return f'{head}\n\t{name} = "{_escape(value).replace(chr(10), chr(92) + "n")}"\n'


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
