"""What made the user's git start programs when a run was set up, and what has changed since.

It is recorded once a worktree is set up, checked after each step, and compared before work is delivered. What a step
changed and nobody accepted is remembered for the repository: a later run does not take it for granted.
"""

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import cast

from handrail.errors import WorkspaceFault
from handrail.frozen import frozen
from handrail.model.history.trees import Tree
from handrail.workspace.git.data_places import DataLayout, hash_path, read_json, write_json
from handrail.workspace.git.repositories import common_dir, find_root
from handrail.workspace.worktrees.executing_settings import (
    IN_TREE,
    ExecutingSettings,
    describe_setting,
    is_ordinary,
    list_watched_paths,
    printable,
    sign_settings,
    stamp,
    survey_settings,
)
from handrail.workspace.worktrees.records import read_record, record_notes, record_of, record_path, worktree_of

RECORD = "executing-settings.json"
UNACCEPTED = "unaccepted-settings"
"""The folder of what steps changed, a file for each repository."""
_STEP = "step"
"""Not empty while a step may have changed settings of a worktree that nobody has checked yet.

The file stays: creating one for each step takes longer than checking the settings.
"""
_OLD_STEP = "step-under-way"
"""The mark of older versions: a file that exists or does not."""
_MOST_WATCHED = 200
_Digests = dict[str, str]


@frozen
class QuietLook:
    """What a look found that started nothing, with the stat data of everything that it depends on."""

    changes: tuple[str, ...]
    mark: str
    """The file that says that a step is under way."""
    stamps: dict[str, tuple[int, ...]]

    def repeat(self) -> tuple[str, ...] | None:
        """Return the same again unless anything was written since; the step that was under way is over."""
        if any(stamp(place) != known for place, known in self.stamps.items()):
            return None
        with suppress(FileNotFoundError):
            os.truncate(self.mark, 0)
        return self.changes


@frozen
class _Observation:
    """What was seen last, and a signature that shows whether anything was written since."""

    signature: str = ""
    named: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()


def record_settings(places: DataLayout, tree: Tree) -> None:
    """Record the settings of a run's repository once its worktree is set up; an existing record of a worktree stays.

    So a worktree that somebody removed and that is made again is still compared with the beginning of the run.
    """
    born = _birth_of(places, tree)
    if born is None or (tree.owned and _read_record(places, tree, born) is not None):
        return
    for other in _trees_in_step(places, tree):
        look_at_settings(places, other)
    digests = _digests(survey_settings(tree).settings)

    def still_open(unaccepted: dict[str, str | None]) -> dict[str, str | None]:
        return {name: before for name, before in unaccepted.items() if digests.get(name) != before}

    for name, before in _change_unaccepted(places, tree, still_open).items():
        digests.pop(name, None)
        digests |= {} if before is None else {name: before}
    _write(places, tree, born, digests)


def accept_settings(places: DataLayout, tree: Tree, files: Collection[str] | None = None) -> None:
    """Record the current settings: all of them, or only the hooks among some files of the checkout."""
    born = _birth_of(places, tree)
    known = None if born is None else _read_record(places, tree, born)
    if born is None or known is None:
        return
    now = _digests(survey_settings(tree).settings)
    names = known.keys() | now.keys()
    if files is not None:
        names &= {f"hook {name}" for name in files}
    if names:
        kept = {name: digest for name, digest in known.items() if name not in names}
        _write(places, tree, born, kept | {name: now[name] for name in names & now.keys()})
        _change_unaccepted(places, tree, lambda each: {name: each[name] for name in each.keys() - names})


def list_changed_settings(places: DataLayout, tree: Tree) -> tuple[str, ...]:
    """Describe what differs from the record, by name; runs without a record have nothing to compare with."""
    born = _birth_of(places, tree)
    known = None if born is None else _read_record(places, tree, born)
    return () if known is None else _describe_differences(known, tree, survey_settings(tree))


def note_step(places: DataLayout, tree: Tree) -> None:
    """Note that a step begins: if nobody checks the settings after it, the set-up of the next run does."""
    mark = _path(places, tree).with_name(_STEP)
    try:
        os.truncate(mark, 1)
    except FileNotFoundError:
        mark.write_bytes(b"s")


def _trees_in_step(places: DataLayout, tree: Tree) -> Iterator[Tree]:
    """Yield the worktrees of a repository whose last step nobody has checked: it is running, or its driver died."""
    common = common_dir(find_root(Path(tree.repository)))
    marked = {note.parent for note in places.private_files(_STEP) if note.stat().st_size}
    marked |= {note.parent for note in places.private_files(_OLD_STEP)}
    # The records of all others need not be read: of many worktrees few have a step under way.
    noted = (note for note in record_notes(places) if places.private_path(worktree_of(note)) in marked)
    found = (record.tree() for note in noted if (record := read_record(note)) is not None)
    for each in (*((tree,) if places.private_folder(Path(tree.path)) in marked else ()), *found):
        with suppress(WorkspaceFault):
            if common_dir(find_root(Path(each.repository))) == common:
                yield each


def look_at_settings(places: DataLayout, tree: Tree) -> tuple[str, ...]:
    """Describe the same after a step, and remember what differs for the repository; quick where nothing was written."""
    born = _birth_of(places, tree)
    path = _path(places, tree)
    content = read_json(path)
    known = None if born is None else _settings_in(content, born)
    if born is None or known is None:
        return ()
    with suppress(FileNotFoundError):
        os.truncate(path.with_name(_STEP), 0)
    path.with_name(_OLD_STEP).unlink(missing_ok=True)
    seen = _look_in(content)
    # Signed before it is read, so that what is written meanwhile is seen by the next look.
    signature = sign_settings(tree, seen.named)
    if signature == seen.signature:
        return seen.changes
    survey = survey_settings(tree)
    if survey.named != seen.named:
        signature = sign_settings(tree, survey.named)
        survey = survey_settings(tree)
    names = {name for name in _find_differences(known, tree, survey) if not name.endswith(IN_TREE)}
    if names:
        _change_unaccepted(places, tree, lambda each: {name: known.get(name) for name in names} | each)
    changes = _describe_differences(known, tree, survey)
    _write(places, tree, born, known, _Observation(signature, survey.named, changes))
    return changes


def remember_look(places: DataLayout, tree: Tree) -> QuietLook | None:
    """Remember what a look depends on, before it is taken; None where there is no record, or too much to watch."""
    born, path = _birth_of(places, tree), _path(places, tree)
    if born is None or _read_record(places, tree, born) is None:
        return None
    try:
        watched = list_watched_paths(tree, _look_in(read_json(path)).named)
    except WorkspaceFault:
        return None
    if not 0 < len(watched) <= _MOST_WATCHED:
        return None
    record = record_path(Path(tree.path).parent, Path(tree.path).name)
    stamps = {place: stamp(place) for place in (os.fspath(path), os.fspath(record), *watched)}
    return QuietLook((), os.fspath(path.with_name(_STEP)), stamps)


def has_filters(places: DataLayout, tree: Tree) -> bool:
    """Whether the repository's own configuration had a filter when a run was set up; reads only the record."""
    born = _birth_of(places, tree)
    known = None if born is None else _read_record(places, tree, born)
    return any(name.startswith("filter.") for name in known or ())


def _birth_of(places: DataLayout, tree: Tree) -> str | None:
    """Return which run a record belongs to; a borrowed checkout has one for whoever works there."""
    if not tree.owned:
        return ""
    record = record_of(places, Path(tree.path))
    return None if record is None else record.born


def _find_differences(known: Mapping[str, str], tree: Tree, survey: ExecutingSettings) -> set[str]:
    digests, values = _digests(survey.settings), {printable(name): each for name, each in survey.settings.items()}
    found = {name for name in known.keys() | digests.keys() if known.get(name) != digests.get(name)}
    if not Path(tree.path).is_dir():
        found = {name for name in found if name in digests or not name.endswith(IN_TREE)}
    return {name for name in found if not is_ordinary(name, values.get(name), known)}


def _describe_differences(known: Mapping[str, str], tree: Tree, survey: ExecutingSettings) -> tuple[str, ...]:
    values = {printable(name): each for name, each in survey.settings.items()}
    names = sorted(_find_differences(known, tree, survey))
    return tuple(describe_setting(name, values.get(name), is_new=name not in known) for name in names)


def _digests(found: Mapping[str, tuple[str, ...]]) -> _Digests:
    """Replace values, which may be secret, by digests."""
    return {printable(name): sha256(os.fsencode("\0".join(found[name]))).hexdigest() for name in found}


def _path(places: DataLayout, tree: Tree) -> Path:
    return places.private_folder(Path(tree.path)) / RECORD


def _read_record(places: DataLayout, tree: Tree, born: str) -> _Digests | None:
    return _settings_in(read_json(_path(places, tree)), born)


def _settings_in(content: object, born: str) -> _Digests | None:
    match content:
        case {"born": str(known), "settings": dict()} as found if known == born:
            return cast("dict[str, _Digests]", found)["settings"]
        case _:
            return None


def _look_in(content: object) -> _Observation:
    match content:
        case {"look": {"signature": str(signature), "named": list(), "changes": list()}} as found:
            lists = cast("dict[str, dict[str, list[str]]]", found)["look"]
            return _Observation(signature, tuple(lists["named"]), tuple(lists["changes"]))
        case _:
            return _Observation()


def _write(
    places: DataLayout, tree: Tree, born: str, digests: Mapping[str, str], look: _Observation | None = None
) -> None:
    seen = {} if look is None else {"look": {"signature": look.signature, "named": look.named, "changes": look.changes}}
    write_json(_path(places, tree), {"born": born, "settings": dict(digests), **seen})


def _change_unaccepted(
    places: DataLayout, tree: Tree, change: Callable[[dict[str, str | None]], dict[str, str | None]]
) -> dict[str, str | None]:
    """Change what is remembered for a repository: each setting that a step changed, with its earlier digest."""
    common = common_dir(find_root(Path(tree.repository)))
    path = places.folder / UNACCEPTED / f"{hash_path(common, 24)}.json"
    with places.lock(path):
        match read_json(path):
            case {"settings": dict()} as found:
                before = cast("dict[str, dict[str, str | None]]", found)["settings"]
            case _:
                before = {}
        after = change(before)
        if after != before:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_json(path, {"repository": str(common), "settings": after})
        return after
