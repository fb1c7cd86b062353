"""Which content the user has trusted: a set of paths and digests, file by file.

The problem: a repository may come from anybody, and its workflows, configuration and agent files make Handrail run
commands. Reading them must be harmless, and running them must need the user's consent to exactly what runs. Trust in a
path would also cover whatever the next `git pull` brings, so trust is in content: code and commands run only when the
very bytes of every file they come from are in the set. The answer for some files is one of these states:

    trusted      every file is part of Handrail, one of the user's own, or its digest was recorded for its path
    repository   the same, and for some file it holds because the user's configuration trusts the whole repository
    changed      some file is not trusted as it is, but some content of these files was trusted before
    never        some file is not trusted, and no content of these files ever was

It is safe because the files of a workflow are read once (`foreign_files.FileContent`): the digest that is compared is
that of the bytes which are then compiled and run, so a change in between has no effect. A digest counts only for its
own path in its own repository. A path may have several trusted contents, such as those of two branches. A repository
cannot grant trust to itself: `[trust]` is read from the user's configuration alone.
"""

from collections.abc import Iterable
from difflib import unified_diff
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

from handrail.errors import UsageError
from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.sources.config.config import read_user_config
from handrail.sources.folders import Folders
from handrail.sources.foreign_files import FileContent, Refusal, decode, is_contained, printable, real
from handrail.sources.library import library_root
from handrail.sources.trust.file import TrustFile, TrustRecord
from handrail.sources.workflow_snapshot import Snapshot

State: TypeAlias = Literal["trusted", "changed", "never", "repository"]
REASONS = {
    "built-in": "it is part of Handrail",
    "own": "it is one of your own",
    "recorded": "you trusted this content",
}
SECRET_FILES = (
    *(".env", ".env.*", "*.env", ".envrc", ".dev.vars", "local.settings.json", ".netrc", ".npmrc", ".pypirc"),
    *("*.pem", "*.key", "*.p12", "*.pfx", "id_rsa*", "id_ed25519*", "*credentials*", "*secrets*"),
)
"""Names of files that may contain secrets: only their digests are stored, and their content is never shown."""


@frozen
class Trust:
    """Whether contents may run, and by which right."""

    state: State
    """`repository`: the user's configuration trusts the whole repository; `changed`: other content was trusted."""
    reason: str
    missing: tuple[FileContent, ...] = ()
    """The files that are not trusted as they are."""

    @property
    def is_granted(self) -> bool:
        """Whether they may run."""
        return not self.missing


class TrustStore:
    """What one user has trusted; implements the port `TrustedFiles`."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._file = TrustFile(folders.data)

    def status_of(self, contents: Iterable[FileContent]) -> Trust:
        """Return whether contents that were read are trusted."""
        listed, rights = tuple(contents), _TrustCheck(self._folders, self._file)
        found = {each: rights.right_to(each.path, each.digest) for each in listed}
        missing = tuple(each for each in listed if not found[each])
        if missing:
            changed = any(rights.record.digests(each.path) for each in listed)
            reason = "it has changed since you trusted it" if changed else "it has not been trusted"
            return Trust("changed" if changed else "never", reason, missing)
        given = set(found.values())
        by_configuration = sorted(given - set(REASONS))
        if by_configuration:
            return Trust("repository", f"your configuration trusts {by_configuration[0]}")
        strongest = next((right for right in ("recorded", "own") if right in given), "built-in")
        return Trust("trusted", REASONS[strongest])

    def covers(self, repository: str, path: str, digest: str) -> bool:
        """Whether this very content at this path of a repository was trusted."""
        inside = real(Path(repository)) / path
        return is_contained(path) and bool(_TrustCheck(self._folders, self._file).right_to(inside, digest))

    def trust(self, contents: Iterable[FileContent]) -> None:
        """Trust contents that were read, such as those that were shown to the user."""
        with self._file.change() as record:
            for each in contents:
                record.add(each.path, each.digest)
                if not isinstance(each.data, Refusal) and not can_hold_secrets(each.path):
                    self._file.keep(each.data)

    def trust_snapshot(self, snapshot: Snapshot) -> None:
        """Trust the files of a workflow as they were read."""
        if snapshot.main.name not in snapshot.files:
            why = snapshot.refused.get(snapshot.main.name, "")
            raise UsageError(f"{printable(str(snapshot.main))} cannot be trusted: {why}")
        self.trust(snapshot.contents)

    def forget(self, paths: Iterable[Path]) -> bool:
        """Withdraw trust in files, or in all below a folder, whatever their content; return whether there was any."""
        with self._file.change() as record:
            gone = [record.remove(real(path)) for path in paths]
        return any(gone)

    def difference_of(self, contents: Iterable[FileContent], root: Path | None = None) -> str:
        """Return how contents that are not trusted differ from what was trusted last; paths are relative to a root."""
        record, parts = self._file.read(), list[str]()
        for each in sorted(contents, key=lambda each: each.path):
            shown = each.path.relative_to(root) if root is not None and each.path.is_relative_to(root) else each.path
            parts += self._difference(printable(shown.as_posix()), each, record)
        return "\n".join(parts) + "\n" if parts else ""

    def _difference(self, name: str, content: FileContent, record: TrustRecord) -> list[str]:
        if isinstance(content.data, Refusal):
            return [f"not used: {name}, {content.data}"]
        digests = record.digests(content.path)
        if can_hold_secrets(content.path):
            return [f"{'changed' if digests else 'new'}: {name}, which is not shown because it may contain secrets"]
        return _file_difference(name, self._file.read_kept(digests[-1]) if digests else b"", content.data)


class _TrustCheck:
    """Determines by which right a content may run; the record and the configuration are read once."""

    def __init__(self, folders: Folders, file: TrustFile) -> None:
        self._folders = folders
        self._file = file
        self._library = real(library_root())
        self._own = real(folders.workflows)

    @cached_property
    def record(self) -> TrustRecord:
        """The contents that were trusted by digest."""
        return self._file.read()

    @cached_property
    def _repositories(self) -> tuple[Path, ...]:
        return tuple(map(real, read_user_config(self._folders, Report()).trusted_repositories))

    def right_to(self, path: Path, digest: str) -> str:
        """Return the right by which a content may run: a key of REASONS, or a trusted repository; empty for none."""
        if path.is_relative_to(self._library):
            return "built-in"
        if path.is_relative_to(self._own):
            return "own"
        repository = next((each for each in self._repositories if _is_part_of(path, each)), None)
        if repository is not None:
            return printable(str(repository))
        return "recorded" if digest in self.record.digests(path) else ""


def can_hold_secrets(path: Path) -> bool:
    """Whether a file may contain secrets, by its name."""
    return any(fnmatch(path.name.lower(), pattern) for pattern in SECRET_FILES)


def _is_part_of(path: Path, repository: Path) -> bool:
    """Whether a file is part of a repository, and not of another one inside it."""
    for folder in path.parents:
        if folder == repository:
            return True
        if (folder / ".git").exists():
            return False
    return False


def _file_difference(name: str, before: bytes | None, after: bytes) -> list[str]:
    if before is None:
        return ["the content that was trusted is no longer stored", *_file_difference(name, b"", after)]
    if before == after:
        return []
    old, new = decode(before), decode(after)
    if isinstance(old, Refusal) or isinstance(new, Refusal):
        return [f"--- {name}", f"+++ {name}", f"binary content differs ({len(before)} and {len(after)} bytes)"]
    lines = unified_diff(_lines(old), _lines(new), f"trusted/{name}", f"now/{name}", lineterm="")
    return list(lines)


def _lines(text: str) -> list[str]:
    """Split at line breaks only, and escape what a terminal would hide, overwrite or reorder."""
    lines = ["\t".join(map(printable, line.split("\t"))) for line in text.split("\n")]
    return lines[:-1] if lines[-1] == "" else [*lines, "\\ no newline at end of file"]
