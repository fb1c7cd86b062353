"""A workflow's files as bytes, read once: what is fingerprinted, compiled and imported is the same."""

from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path, PurePosixPath

from handrail.frozen import frozen
from handrail.model.source import Bundle, SourceText
from handrail.sources.foreign_files import FileContent, Refusal, decode, printable, read_bytes, real, scan, walk

MAIN_NAMES = ("workflow.yaml", "workflow.yml", "workflow.json", "workflow.py")
COMPANION_FOLDERS = ("prompts", "schemas")
VERSIONS = "versions"
TESTS = "tests"
MAX_COMPANIONS = 500
MAX_DEPTH = 3


@frozen
class Snapshot:
    """The files of one workflow at one moment, by path relative to its folder; `refused` says why others are absent."""

    main: Path
    files: dict[str, bytes]
    refused: dict[str, str]

    @property
    def folder(self) -> Path:
        """The folder that every path is relative to."""
        return self.main.parent

    @property
    def fingerprint(self) -> str:
        """The digest of all paths and contents, in order of their paths."""
        from hashlib import sha256  # noqa: PLC0415 (slow to load, and most commands ask for no digest)

        digest = sha256(b"handrail workflow 1\0")
        for path in sorted({*self.files, *self.refused}):
            data = self.files.get(path)
            content = b"refused" if data is None else b"file " + sha256(data).digest()
            name = path.encode("utf-8")
            digest.update(len(name).to_bytes(4, "big") + name + len(content).to_bytes(4, "big") + content)
        return digest.hexdigest()

    @property
    def contents(self) -> tuple[FileContent, ...]:
        """Every file with its path, for questions of trust."""
        folder = real(self.folder)
        refused = ((path, Refusal(why)) for path, why in self.refused.items())
        return tuple(FileContent(folder / path, data) for path, data in (*self.files.items(), *refused))

    def bundle(self, shown: Callable[[Path], str]) -> Bundle:
        """Build the texts that reading and compiling may use; the main file is always included, if need be empty."""
        bundle = Bundle(self.main.name, refused=dict(self.refused))
        for path, data in self.files.items():
            if path == self.main.name or _is_companion(path):
                text = decode(data)
                if isinstance(text, Refusal):
                    bundle.refused[path] = text
                else:
                    bundle.files[path] = SourceText(printable(shown(self.folder / path)), text)
        bundle.files.setdefault(self.main.name, SourceText(printable(shown(self.main)), ""))
        return bundle


def take(main: Path) -> Snapshot:
    """Read a workflow's files; never fails, what cannot be used is refused with the reason."""
    files: dict[str, bytes] = {}
    refused: dict[str, str] = {}
    for path, known in _paths(main):
        data = known or _read_named(main.parent, path)
        if isinstance(data, Refusal):
            refused[printable(path)] = str(data)
        else:
            files[path] = data
    return Snapshot(main, files, refused)


def is_folder_form(main: Path) -> bool:
    """Whether the file is the main file of a folder of its own."""
    return main.name in MAIN_NAMES


def _read_named(folder: Path, path: str) -> bytes | Refusal:
    if not path.isprintable():
        return Refusal("its name holds characters that cannot be printed")
    return read_bytes(folder / path, folder)


def _paths(main: Path) -> Iterator[tuple[str, Refusal | None]]:
    """Yield the main file, what it may refer to, and in a folder of its own also the rest, which trust covers."""
    yield main.name, None
    walked = (walk(main.parent, name, MAX_DEPTH) for name in _companion_folders(main.parent))
    yield from _limit_paths(chain(chain.from_iterable(walked), _beside(main, ".md")))
    if main.suffix == ".py" and (main.parent / VERSIONS).exists():
        # Its resolve() may choose any version, so trusting it means trusting all of them.
        yield from _limit_paths(walk(main.parent, VERSIONS, MAX_DEPTH))
    if is_folder_form(main):
        yield from _limit_paths(path for path in _rest(main) if not _is_companion(path) and path != main.name)


def _limit_paths(paths: Iterator[str]) -> Iterator[tuple[str, Refusal | None]]:
    for path in islice(paths, MAX_COMPANIONS):
        yield path, None
    for path in islice(paths, 1):
        yield path, Refusal(f"there are more than {MAX_COMPANIONS} files beside the workflow")


def _companion_folders(folder: Path) -> list[str]:
    return [name for name in COMPANION_FOLDERS if (folder / name).is_symlink() or (folder / name).exists()]


def _beside(main: Path, ending: str) -> Iterator[str]:
    try:
        yield from (entry.name for entry in scan(main.parent) if entry.name.endswith(ending))
    except OSError:
        return


def _rest(main: Path) -> Iterator[str]:
    for name in _beside(main, ""):
        if name.casefold() in {VERSIONS, TESTS} or name in COMPANION_FOLDERS:
            continue
        path = main.parent / name
        if path.is_dir() and not path.is_symlink():
            yield from walk(main.parent, name, MAX_DEPTH)
        else:
            yield name


def _is_companion(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return parts[0] in COMPANION_FOLDERS if len(parts) > 1 else path.endswith(".md")
