"""The key that tokens are signed with: made once for a database, kept beside it, replaced when a person asks."""

import contextlib
import json
import os
import secrets
from pathlib import Path
from typing import Any, cast

from handrail.errors import StorageDamaged

FILE = "token-keys.json"
_BYTES = 32


def keys_in(folder: Path) -> tuple[bytes, ...]:
    """Give the keys, the one to sign with first; the first caller makes it, however many call at once."""
    path = folder / FILE
    if not path.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = _draft(path, {"current": secrets.token_hex(_BYTES), "previous": None})
        # Of several that make one at once, one is first; a link never replaces what is there.
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    return _read(path)


def rotate(folder: Path) -> tuple[bytes, ...]:
    """Sign with a new key from now on; tokens of the key before it stay good, older ones do not."""
    current = keys_in(folder)[0]
    path = folder / FILE
    _draft(path, {"current": secrets.token_hex(_BYTES), "previous": current.hex()}).replace(path)
    return _read(path)


def _draft(path: Path, data: dict[str, str | None]) -> Path:
    draft = path.with_name(f"{FILE}.{os.getpid()}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        json.dump(data, file)
        file.flush()
        os.fsync(file.fileno())
    return draft


def _read(path: Path) -> tuple[bytes, ...]:
    try:
        data = cast("dict[str, Any]", json.loads(path.read_text()))
        found = tuple(bytes.fromhex(data[name]) for name in ("current", "previous") if data.get(name))
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(path) from error
    if not found or any(len(key) != _BYTES for key in found):
        raise _damaged(path)
    return found


def _damaged(path: Path) -> StorageDamaged:
    hint = f"remove {path}: a new key is made; connected agents then find their run again with resume_session"
    return StorageDamaged(f"the keys of tokens in {path} cannot be read", next_step=hint)
