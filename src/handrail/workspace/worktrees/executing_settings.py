"""What makes the user's own git start programs: recorded when a run is set up, compared before work is delivered.

Git of ours never obeys such settings (`repository_view`), but the user's does, and it works in the same repository.
"""

import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import cast

from handrail.errors import WorkspaceFault
from handrail.frozen import frozen
from handrail.model.history.trees import Tree
from handrail.workspace.git.data_places import Places, read_json, write_json
from handrail.workspace.git.repositories import common_dir, common_of, find_root, git_dir
from handrail.workspace.git.repository_view import Setting, read_settings
from handrail.workspace.worktrees.records import record_of

RECORD = "executing-settings.json"
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
"""Keys whose values git runs, or that decide which program or server git turns to."""
_EXECUTING = re.compile("|".join(_KEYS), re.DOTALL)
_TARGETS = re.compile(r"branch\..*\.(push)?remote|remote\.pushdefault", re.DOTALL)
"""Keys that usually name a remote; one that holds an address goes around the remotes."""
_INCLUDES = re.compile(r"include\.path|includeif\..*\.path", re.DOTALL)
_SECRET = re.compile(r"(credential|http|url|remote|sendemail|imap|lfs)\..*", re.DOTALL)
"""Keys whose values may hold passwords, and are not shown."""
_REPOSITORYS = ("local", "worktree")
_HOOK = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+|update")
_MOST_FILES = 2000
_LONGEST_SHOWN = 80
_MISSING = "missing"
_IN_TREE = " in the work tree"


@frozen
class _Folder:
    """A git folder with settings of its own."""

    where: Path
    own: Path
    label: str = ""
    is_submodule: bool = False


def record_settings(places: Places, tree: Tree) -> None:
    """Record the settings of a run's repository once its worktree is set up; what is recorded already stays.

    So a worktree that somebody removed and that is made again is still compared with the beginning of the run.
    """
    record = record_of(places, Path(tree.path))
    if record is not None and _recorded(places, tree, record.born) is None:
        _write(places, tree, record.born, _digests(executing_settings(tree)))


def accept_settings(places: Places, tree: Tree, files: Collection[str] | None = None) -> None:
    """Record the settings as they are now: all of them, or only the hooks among some files of the checkout."""
    record = record_of(places, Path(tree.path))
    known = None if record is None else _recorded(places, tree, record.born)
    if record is None or known is None:
        return
    now = _digests(executing_settings(tree))
    if files is None:
        _write(places, tree, record.born, now)
        return
    names = {f"hook {name}" for name in files} & (known.keys() | now.keys())
    if names:
        kept = {name: digest for name, digest in known.items() if name not in names}
        _write(places, tree, record.born, kept | {name: now[name] for name in names & now.keys()})


def changed_settings(places: Places, tree: Tree) -> tuple[str, ...]:
    """Say what differs from the record, by name; runs without a record have nothing to compare with."""
    record = record_of(places, Path(tree.path))
    known = None if record is None else _recorded(places, tree, record.born)
    if known is None:
        return ()
    now = executing_settings(tree)
    digests = _digests(now)
    gone = known.keys() - digests.keys()
    if not Path(tree.path).is_dir():
        gone = {name for name in gone if not name.endswith(_IN_TREE)}
    differing = {name for name, digest in digests.items() if known.get(name) != digest} | gone
    return tuple(_shown(name, now.get(name), is_new=name not in known) for name in sorted(differing))


def executing_settings(tree: Tree) -> dict[str, tuple[str, ...]]:
    """Give everything in a run's repository that makes git start programs: values of keys, digests of files."""
    root, path = find_root(Path(tree.repository)), Path(tree.path)
    common = common_dir(root)
    found: dict[str, tuple[str, ...]] = {}
    hooks: dict[str, None] = {}
    for folder in _git_folders(root, path, common):
        for name, value in _of_folder(folder):
            found[name] = tuple(dict.fromkeys((*found.get(name, ()), value)))
            if name.startswith("core.hookspath"):
                hooks[value] = None
    found |= _file("info/attributes", common / "info/attributes")
    found |= _hooks(common / "hooks", "hook {}")
    for value in (*hooks, *_users_hooks(root)):
        for base, form in ((root, "hook {}"), (path, f"hook {{}}{_IN_TREE}")):
            found |= _hooks(base / Path(value).expanduser(), form, base)
    return found


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


def _of_folder(folder: _Folder) -> Iterator[tuple[str, str]]:
    try:
        settings = read_settings(folder.where, folder.own)
    except WorkspaceFault:
        yield f"configuration{folder.label} that git cannot read", _MISSING
        return
    for each in settings:
        if each.scope in _REPOSITORYS and _executes(each):
            # What all worktrees share is the same setting in each of them.
            is_shared = each.scope == "local" and not folder.is_submodule
            yield each.key + ("" if is_shared else folder.label), each.value
            yield from _named_files(folder, each)
    if folder.is_submodule:
        for name, digests in _hooks(folder.own / "hooks", f"hook {{}}{folder.label}").items():
            yield name, digests[0]


def _executes(each: Setting) -> bool:
    if _TARGETS.fullmatch(each.key):
        return ":" in each.value or "/" in each.value
    return _EXECUTING.fullmatch(each.key) is not None


def _named_files(folder: _Folder, each: Setting) -> Iterator[tuple[str, str]]:
    """The files that a setting names: an include counts also while its condition does not hold."""
    if _INCLUDES.fullmatch(each.key):
        base = Path(each.origin.removeprefix("file:")).parent
    elif each.key == "core.attributesfile":
        base = folder.where
    else:
        return
    for name, digests in _file(f"{each.key} {each.value}", base / Path(each.value).expanduser(), always=True).items():
        yield f"file of {name}", digests[0]


def _users_hooks(root: Path) -> Iterator[str]:
    """A folder of hooks that the user's own configuration names; a relative one lies in each checkout."""
    try:
        settings = read_settings(root, git_dir(root).resolve())
    except WorkspaceFault:
        return
    values = (each.value for each in settings if each.key == "core.hookspath" and each.scope not in _REPOSITORYS)
    yield from (value for value in values if not Path(value).expanduser().is_absolute())


def _hooks(folder: Path, form: str, base: Path | None = None) -> dict[str, tuple[str, ...]]:
    """Digest the files of a folder of hooks; of one that is a checkout itself only those that git would call."""
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
        if len(found) > _MOST_FILES:
            break
    return found[:_MOST_FILES]


def _file(name: str, path: Path, *, always: bool = False) -> dict[str, tuple[str, ...]]:
    """Give the mode and the digest of a file; one that is missing is told from an empty one where it was named."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            digest = sha256(file.read()).hexdigest() if stat.S_ISREG(mode) else "no file"
    except (OSError, ValueError):
        return {name: (_MISSING,)} if always or os.path.lexists(path) else {}
    return {name: (f"{'executable' if mode & 0o111 else 'plain'} {digest}",)}


def _digests(found: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Digests instead of values, which may be secret."""
    return {_printable(name): sha256(os.fsencode("\0".join(found[name]))).hexdigest() for name in found}


def _recorded(places: Places, tree: Tree, born: str) -> dict[str, str] | None:
    match read_json(places.private(Path(tree.path)) / RECORD):
        case {"born": str(known), "settings": dict()} as found if known == born:
            return cast("dict[str, dict[str, str]]", found)["settings"]
        case _:
            return None


def _write(places: Places, tree: Tree, born: str, digests: Mapping[str, str]) -> None:
    write_json(places.private(Path(tree.path)) / RECORD, {"born": born, "settings": dict(digests)})


def _shown(name: str, values: tuple[str, ...] | None, *, is_new: bool) -> str:
    how = "removed" if values is None else "new" if is_new else "changed"
    if values is None or name.startswith(("hook ", "file of ", "info/", "configuration")) or _SECRET.fullmatch(name):
        return f"{name} ({how})"
    text = _printable(re.sub(r"://[^/@\s]*@", "://", values[-1]))
    return f"{name} = {text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + '...'} ({how})"


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
