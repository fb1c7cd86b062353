"""The file in which trust is kept: private, replaced as a whole, and changed by one process at a time."""

import fcntl
import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import field
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from handrail.errors import EnvironmentFault
from handrail.frozen import frozen
from handrail.sources.foreign_files import reason

VERSION = 1
_HEX = frozenset("0123456789abcdef")


@frozen
class Entry:
    """What was trusted at a path: the fingerprint, and the digest of each file."""

    fingerprint: str
    files: dict[str, str] = field(default_factory=dict[str, str])


class TrustFile:
    """Entries by absolute path in `trust.json`; the trusted contents by digest in `trust/`."""

    def __init__(self, data: Path) -> None:
        self.path = data / "trust.json"
        self._blobs = data / "trust"
        self._lock = data / "trust.lock"

    def read(self) -> dict[str, Entry]:
        """Read all entries; a damaged file is an error, never an empty one."""
        try:
            text = self.path.read_text("utf-8")
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except (OSError, ValueError) as error:
            raise self._damaged(reason(error)) from error
        try:
            return _entries(json.loads(text))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise self._damaged("it is not what Handrail wrote") from error

    @contextmanager
    def change(self) -> Generator[dict[str, Entry]]:
        """Give the entries to be changed, and write them back; other processes wait meanwhile."""
        with self._locked():
            entries = self.read()
            yield entries
            self._write(entries)
            self._sweep(entries)

    def keep(self, data: bytes) -> str:
        """Keep a content and give its digest; call it while changing the entries."""
        digest = sha256(data).hexdigest()
        blob = self._blobs / digest
        if not blob.exists():
            _replace(blob, data)
        return digest

    def kept(self, digest: str) -> bytes | None:
        """Give a content that was kept; None when it is gone or no longer what it was."""
        try:
            data = (self._blobs / digest).read_bytes()
        except OSError:
            return None
        return data if sha256(data).hexdigest() == digest else None

    @contextmanager
    def _locked(self) -> Generator[None]:
        try:
            for folder in (self.path.parent, self._blobs):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise self._refused(error) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        except OSError as error:
            raise self._refused(error) from error
        finally:
            os.close(handle)

    def _write(self, entries: dict[str, Entry]) -> None:
        listed = {path: {"fingerprint": each.fingerprint, "files": each.files} for path, each in entries.items()}
        text = json.dumps({"version": VERSION, "trusted": listed}, indent=2, sort_keys=True)
        _replace(self.path, text.encode("utf-8") + b"\n")

    def _sweep(self, entries: dict[str, Entry]) -> None:
        """Remove contents that no entry names any more."""
        named = {digest for entry in entries.values() for digest in entry.files.values()}
        for blob in self._blobs.iterdir():
            if blob.name not in named:
                blob.unlink(missing_ok=True)

    def _damaged(self, why: str) -> EnvironmentFault:
        step = f"look at {self.path} and move it away; each workflow then has to be trusted again"
        return EnvironmentFault(f"the record of trusted workflows cannot be used: {why}", next_step=step)

    def _refused(self, error: OSError) -> EnvironmentFault:
        step = f"check the permissions of {self.path.parent} and the space on its disk"
        return EnvironmentFault(f"trust cannot be recorded: {reason(error)}", next_step=step)


def _replace(path: Path, data: bytes) -> None:
    """Write a private file so that a reader sees the old or the new content, also after a crash."""
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


def _entries(parsed: Any) -> dict[str, Entry]:
    if parsed["version"] != VERSION:
        raise ValueError(parsed["version"])
    listed = cast("dict[str, Any]", parsed["trusted"])
    return {path: Entry(_digest(each["fingerprint"]), _files(each["files"])) for path, each in listed.items()}


def _files(listed: dict[str, Any]) -> dict[str, str]:
    return {path: _digest(digest) for path, digest in listed.items()}


def _digest(text: Any) -> str:
    if not isinstance(text, str) or len(text) != 64 or not _HEX.issuperset(text):
        raise ValueError(text)
    return text
