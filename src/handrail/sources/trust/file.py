"""The file in which trust is stored: private, replaced as a whole, and changed by one process at a time."""

import fcntl
import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias, cast

from handrail.errors import EnvironmentFault
from handrail.sources.folders import trust_root
from handrail.sources.foreign_files import reason

VERSION = 2
MAX_DIGESTS = 16
"""How many contents are remembered of one path, the newest ones."""
_HEX = frozenset("0123456789abcdef")
Digests: TypeAlias = dict[str, list[str]]
"""Trusted digests by path, the newest last."""


@dataclass(slots=True)
class TrustRecord:
    """What was trusted: by the root of a repository and the relative path, or by the absolute path."""

    repositories: dict[str, Digests] = field(default_factory=dict[str, Digests])
    files: Digests = field(default_factory=Digests)

    def digests(self, path: Path) -> tuple[str, ...]:
        """Return the trusted digests of a file, the newest last."""
        root, inner = locate(path)
        own = self.repositories.get(root, {}).get(inner, []) if root else []
        return (*self.files.get(_key(path), ()), *own)

    def add(self, path: Path, digest: str) -> None:
        """Add a trusted content of a file; it becomes the newest."""
        root, inner = locate(path)
        digests = self.repositories.setdefault(root, {}) if root else self.files
        kept = [each for each in digests.get(inner, []) if each != digest]
        digests[inner] = [*kept, digest][-MAX_DIGESTS:]

    def remove(self, path: Path) -> bool:
        """Remove a file, or everything below a folder; return whether anything was trusted there."""
        root, inner = locate(path / "x")
        prefix = str(PurePosixPath(inner).parent)
        gone = [_drop(self.files, _key(path))]
        if root:
            gone.append(_drop(self.repositories.get(root, {}), "" if prefix == "." else prefix))
            if not self.repositories.get(root, {"": []}):
                del self.repositories[root]
        return any(gone)

    def list_digests(self) -> set[str]:
        """Return all digests that are trusted anywhere."""
        tables = (self.files, *self.repositories.values())
        return {digest for table in tables for digests in table.values() for digest in digests}


def locate(path: Path) -> tuple[str, str]:
    """Return under which root and path trust in a file is recorded; outside any repository the root is empty."""
    root = trust_root(path)
    if root is None:
        return "", _key(path)
    folder = next(each for each in path.parents if (each / ".git").exists() or each == root)
    return _key(root), _key(path.relative_to(folder))


class TrustFile:
    """Trusted digests by path in `trust.json`; the trusted contents by digest in `trust/`."""

    def __init__(self, data: Path) -> None:
        self.path = data / "trust.json"
        self._blobs = data / "trust"
        self._lock = data / "trust.lock"

    def read(self) -> TrustRecord:
        """Read the record; a damaged file is an error, never an empty one."""
        try:
            text = self.path.read_text("utf-8")
        except (FileNotFoundError, NotADirectoryError):
            return TrustRecord()
        except (OSError, ValueError) as error:
            raise self._damage_error(reason(error)) from error
        try:
            return _record(json.loads(text))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise self._damage_error("it is not what Handrail wrote") from error

    @contextmanager
    def change(self) -> Generator[TrustRecord]:
        """Yield the record for changes, and write it back; other processes wait meanwhile."""
        with self._hold_lock():
            record = self.read()
            yield record
            self._write(record)
            self._sweep(record)

    def keep(self, data: bytes) -> str:
        """Store a content and return its digest; call it while changing the record."""
        digest = sha256(data).hexdigest()
        blob = self._blobs / digest
        if not blob.exists():
            _replace(blob, data)
        return digest

    def read_kept(self, digest: str) -> bytes | None:
        """Return a stored content; None when it is gone or damaged."""
        try:
            data = (self._blobs / digest).read_bytes()
        except OSError:
            return None
        return data if sha256(data).hexdigest() == digest else None

    @contextmanager
    def _hold_lock(self) -> Generator[None]:
        try:
            for folder in (self.path.parent, self._blobs):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise self._write_error(error) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        except OSError as error:
            raise self._write_error(error) from error
        finally:
            os.close(handle)

    def _write(self, record: TrustRecord) -> None:
        content = {"version": VERSION, "repositories": record.repositories, "files": record.files}
        _replace(self.path, json.dumps(content, indent=2, sort_keys=True).encode("utf-8") + b"\n")

    def _sweep(self, record: TrustRecord) -> None:
        """Remove contents that the record no longer mentions."""
        named = record.list_digests()
        for blob in self._blobs.iterdir():
            if blob.name not in named:
                blob.unlink(missing_ok=True)

    def _damage_error(self, why: str) -> EnvironmentFault:
        step = f"check {self.path} and move it away; each workflow then has to be trusted again"
        return EnvironmentFault(f"the record of trusted workflows cannot be used: {why}", next_step=step)

    def _write_error(self, error: OSError) -> EnvironmentFault:
        step = f"check the permissions of {self.path.parent} and the space on its disk"
        return EnvironmentFault(f"trust cannot be recorded: {reason(error)}", next_step=step)


def _replace(path: Path, data: bytes) -> None:
    """Write a private file so that a reader sees the old or the new content, even after a crash."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def _record(parsed: Any) -> TrustRecord:
    if parsed["version"] == 1:
        return _migrate_first_version(parsed["trusted"])
    if parsed["version"] != VERSION:
        raise ValueError(parsed["version"])
    repositories = cast("dict[str, Any]", parsed["repositories"])
    return TrustRecord({root: _digests(table) for root, table in repositories.items()}, _digests(parsed["files"]))


def _migrate_first_version(trusted: dict[str, Any]) -> TrustRecord:
    """Read the first version, which listed the files of each workflow by the path of its main file."""
    record = TrustRecord()
    for main, entry in trusted.items():
        _digest(entry["fingerprint"])
        for name, digest in entry["files"].items():
            record.add(Path(main).parent / name, _digest(digest))
    return record


def _digests(table: dict[str, Any]) -> Digests:
    return {path: [_digest(each) for each in cast("list[Any]", listed)] for path, listed in table.items()}


def _digest(text: Any) -> str:
    if not isinstance(text, str) or len(text) != 64 or not _HEX.issuperset(text):
        raise ValueError(text)
    return text


def _drop(table: Digests, prefix: str) -> bool:
    gone = [path for path in table if not prefix or path == prefix or path.startswith(f"{prefix}/")]
    for path in gone:
        del table[path]
    return bool(gone)


def _key(path: Path) -> str:
    return path.as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
