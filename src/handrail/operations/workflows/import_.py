"""Imports workflows that were written for other tools."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from handrail.authoring.importers import import_files
from handrail.authoring.importers.result import ImportNote, SourceKind
from handrail.errors import NotFound, UsageError
from handrail.frozen import frozen
from handrail.operations.atomic_files import replace_file
from handrail.operations.workflows.validate import Validation, validate
from handrail.sources.foreign_files import Refusal, decode, is_inside, printable, read_bytes
from handrail.sources.tiers import Location

MAX_FILES = 500
MAX_DEPTH = 16


ImportKind: TypeAlias = SourceKind


@frozen
class ImportResult:
    """What was written, what happened to each part, and whether the result is valid."""

    kind: SourceKind
    written: tuple[str, ...]
    notes: tuple[ImportNote, ...]
    validation: Validation


def import_workflows(
    place: Location, source: Path, *, to: Path | None = None, kind: SourceKind | None = None, force: bool = False
) -> ImportResult:
    """Translate a file or folder of another tool into native workflows and write them."""
    texts, unread = read_source(source)
    imported = import_files(texts, kind)
    target = to if to is not None else _default_target(place)
    paths = {target / _require_inside(name): text for name, text in sorted(imported.files.items())}
    _refuse_links(place, paths, target)
    if not force:
        _refuse_overwriting(place, [path for path in paths if path.exists()])
    _write(paths)
    folders = dict.fromkeys(target / PurePosixPath(name).parts[0] for name in sorted(imported.files))
    validation = validate(place, [str(folder) for folder in folders])
    return ImportResult(
        imported.kind, tuple(place.display_path(path) for path in paths), (*imported.notes, *unread), validation
    )


def read_source(source: Path) -> tuple[dict[str, str], list[ImportNote]]:
    """Read a file, or the files of a folder by relative path; a note names each unused file, with the reason."""
    if not source.exists():
        raise NotFound(f"{printable(str(source))} does not exist", next_step="name a file or folder to import")
    if not source.is_dir():
        text = _text(source, source.parent)
        if isinstance(text, Refusal):
            raise UsageError(f"{printable(str(source))} cannot be imported: {text}")
        return {source.name: text}, []
    texts: dict[str, str] = {}
    notes: list[ImportNote] = []
    for path in _files(source):
        name, text = path.relative_to(source).as_posix(), _text(path, source)
        if isinstance(text, Refusal):
            notes.append(ImportNote("lost", printable(name), 1, f"the file was not read: {text}"))
        else:
            texts[name] = text
    return texts, notes


def _files(folder: Path) -> Iterator[Path]:
    count = 0
    for parent, folders, files in os.walk(folder):
        here = Path(parent)
        folders[:] = sorted(name for name in folders if name != ".git")
        for path in [here / name for name in (*folders, *files)]:
            if path.is_symlink() and not is_inside(path, folder):
                raise UsageError(f"{printable(str(path))} leads outside what is imported", next_step="remove the link")
        count += len(files)
        if count > MAX_FILES or len(here.relative_to(folder).parts) > MAX_DEPTH:
            message = (
                f"{printable(str(folder))} contains more than {MAX_FILES} files, or folders more than {MAX_DEPTH} deep"
            )
            raise UsageError(message, next_step="import a smaller folder")
        yield from (here / name for name in sorted(files))


def _text(path: Path, root: Path) -> str | Refusal:
    data = read_bytes(path, root)
    return data if isinstance(data, Refusal) else decode(data)


def _default_target(place: Location) -> Path:
    if place.repository is not None:
        return place.repository / ".handrail" / "workflows"
    return place.cwd or Path.cwd()


def _require_inside(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise UsageError(f"the import would write outside its folder: {printable(name)}")
    return path


def _write(texts: dict[Path, str]) -> None:
    """Write all files; if one cannot be written, remove those that were not there before."""
    fresh: list[Path] = []
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh += [] if path.exists() else [path]
            replace_file(path, text.encode("utf-8"))
    except BaseException:
        for path in fresh:
            path.unlink(missing_ok=True)
        raise


def _refuse_links(place: Location, paths: Iterable[Path], target: Path) -> None:
    for path in paths:
        if path.is_symlink() or not path.resolve().is_relative_to(target.resolve()):
            raise UsageError(
                f"{place.display_path(path)} is a link to another place, so it was not written",
                next_step="remove the link",
            )


def _refuse_overwriting(place: Location, existing: list[Path]) -> None:
    if existing:
        listed = ", ".join(place.display_path(path) for path in existing[:3]) + (" …" if len(existing) > 3 else "")
        hint = "choose another folder with --to, or overwrite with --force"
        raise UsageError(f"already exists: {listed}", next_step=hint)
