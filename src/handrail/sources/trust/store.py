"""Which content the user has trusted. Code and commands of a repository run only when their very bytes were."""

from difflib import unified_diff
from pathlib import Path
from typing import Literal, TypeAlias

from handrail.errors import UsageError
from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.sources.config.config import read_user_config
from handrail.sources.folders import Folders
from handrail.sources.foreign_files import Refusal, decode, printable, real
from handrail.sources.library import library_root
from handrail.sources.trust.file import Entry, TrustFile
from handrail.sources.workflow_files import from_path
from handrail.sources.workflow_snapshot import Snapshot, take

State: TypeAlias = Literal["trusted", "changed", "never", "repository"]


@frozen
class Trust:
    """Whether a content may run, and by which right."""

    state: State
    """`repository`: the user's configuration trusts the whole repository; `changed`: other content was trusted."""
    reason: str

    @property
    def granted(self) -> bool:
        """Whether it may run."""
        return self.state in {"trusted", "repository"}


class TrustStore:
    """What one user has trusted."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._file = TrustFile(folders.data)

    def status_of(self, snapshot: Snapshot) -> Trust:
        """Tell how a content that was read stands."""
        main = real(snapshot.main)
        right = self._by_nature(main)
        if right is not None:
            return right
        entry = self._file.read().get(_key(main))
        if entry is None:
            return Trust("never", "it has not been trusted")
        if entry.fingerprint == snapshot.fingerprint:
            return Trust("trusted", "you trusted this content")
        return Trust("changed", "it has changed since you trusted it")

    def trust(self, path: Path) -> None:
        """Trust the present content of a workflow."""
        self.trust_snapshot(take(_main_of(path)))

    def trust_snapshot(self, snapshot: Snapshot) -> None:
        """Trust a content that was read, such as the one that was shown to the user."""
        if snapshot.main.name not in snapshot.files:
            why = snapshot.refused.get(snapshot.main.name, "")
            raise UsageError(f"{printable(str(snapshot.main))} cannot be trusted: {why}")
        with self._file.change() as entries:
            files = {name: self._file.keep(data) for name, data in snapshot.files.items()}
            entries[_key(real(snapshot.main))] = Entry(snapshot.fingerprint, files)

    def forget(self, path: Path) -> bool:
        """Withdraw trust; tell whether there was any."""
        with self._file.change() as entries:
            return entries.pop(_key(real(_main_of(path))), None) is not None

    def difference_of(self, snapshot: Snapshot) -> str:
        """Show how a content that was read differs from what was trusted."""
        entry = self._file.read().get(_key(real(snapshot.main)), Entry(""))
        parts: list[str] = []
        for name in sorted({*entry.files, *snapshot.files}):
            digest = entry.files.get(name)
            before = self._file.kept(digest) if digest is not None else b""
            parts += _file_difference(name, before, snapshot.files.get(name, b""))
        if entry.fingerprint != snapshot.fingerprint:
            parts += [f"not used: {name}, {why}" for name, why in sorted(snapshot.refused.items())]
        return "\n".join(parts) + "\n" if parts else ""

    def _by_nature(self, main: Path) -> Trust | None:
        if main.is_relative_to(real(library_root())):
            return Trust("trusted", "it is part of Handrail")
        if main.is_relative_to(real(self._folders.workflows)):
            return Trust("trusted", "it is one of your own")
        for repository in read_user_config(self._folders, Report()).trusted_repositories:
            if _belongs(main, real(repository)):
                return Trust("repository", f"your configuration trusts {printable(str(repository))}")
        return None


def _belongs(main: Path, repository: Path) -> bool:
    """Tell whether a file is part of a repository, and not of another one that lies inside it."""
    for folder in main.parents:
        if folder == repository:
            return True
        if (folder / ".git").exists():
            return False
    return False


def _file_difference(name: str, before: bytes | None, after: bytes) -> list[str]:
    if before is None:
        return [f"--- {name}", f"+++ {name}", "the content that was trusted is no longer kept"]
    if before == after:
        return []
    old, new = decode(before), decode(after)
    if isinstance(old, Refusal) or isinstance(new, Refusal):
        return [f"--- {name}", f"+++ {name}", f"binary content differs ({len(before)} and {len(after)} bytes)"]
    lines = unified_diff(_lines(old), _lines(new), f"trusted/{name}", f"now/{name}", lineterm="")
    return list(lines)


def _lines(text: str) -> list[str]:
    """Split at line breaks only, and make visible what a terminal would hide, overwrite or reorder."""
    lines = ["\t".join(map(printable, line.split("\t"))) for line in text.split("\n")]
    return lines[:-1] if lines[-1] == "" else [*lines, "\\ no newline at end of file"]


def _main_of(path: Path) -> Path:
    candidate = from_path(path)
    if candidate is not None:
        return candidate.main
    if path.is_file():
        return path.absolute()
    raise UsageError(f"{printable(str(path))} is not a workflow", next_step="give a workflow file or its folder")


def _key(main: Path) -> str:
    return main.as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
