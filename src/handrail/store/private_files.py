"""Small files that only their owner reads, such as keys: complete or absent, whatever happens meanwhile."""

import contextlib
import os
import secrets
from pathlib import Path

from handrail.store.sqlite.faults import translate_faults


def create_once(path: Path, content: str, what: str) -> None:
    """Create a file once; of several concurrent callers one wins, and an existing file is never replaced."""
    with translate_faults(path, what):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = _draft(path, content)
        try:
            # Linking never replaces an existing file.
            with contextlib.suppress(FileExistsError):
                os.link(draft, path)
        finally:
            draft.unlink()
        _settle(path.parent)


def replace_file(path: Path, content: str, what: str) -> None:
    """Replace a file; the old one stays until the new one is complete and on disk."""
    with translate_faults(path, what):
        draft = _draft(path, content)
        try:
            draft.replace(path)
        except OSError:
            draft.unlink()
            raise
        _settle(path.parent)


def _draft(path: Path, content: str) -> Path:
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        draft.unlink()
        raise
    return draft


def _settle(folder: Path) -> None:
    """Sync the entries of a folder to disk: a key that signed something must survive a power cut."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
