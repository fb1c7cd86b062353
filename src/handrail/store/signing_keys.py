"""The key that signs tokens: created once for a database, stored beside it, replaced when a person asks.

A key that cannot be read is never replaced automatically: every token of every connected agent would be lost with it.
"""

import json
import os
import secrets
from pathlib import Path
from typing import Any, cast

from handrail.errors import StorageDamaged, StorageRefused, StorageTooNew
from handrail.store.private_files import create_once, replace_file

FILE = "token-keys.json"
VERSION = 1
"""The version of the file; one without a version has this one."""
_BYTES = 32
_WHAT = "the keys of tokens"


def keys_in(folder: Path) -> tuple[bytes, ...]:
    """Read the keys, the signing key first; the first caller creates it, however many call at once."""
    path = folder / FILE
    if not os.path.lexists(path):
        create_once(path, _new_keys_text(None), _WHAT)
    return _read(path)


def rotate(folder: Path) -> tuple[bytes, ...]:
    """Sign with a new key from now on; tokens of the previous key stay valid, older ones do not."""
    current = keys_in(folder)[0]
    replace_file(folder / FILE, _new_keys_text(current.hex()), _WHAT)
    return _read(folder / FILE)


def _new_keys_text(previous: str | None) -> str:
    return json.dumps({"version": VERSION, "current": secrets.token_hex(_BYTES), "previous": previous})


def _read(path: Path) -> tuple[bytes, ...]:
    try:
        content = path.read_bytes()
    except OSError as error:
        hint = f"make {path} a file that your user owns and can read, or set HANDRAIL_HOME to a folder that you own"
        raise StorageRefused(f"{_WHAT} in {path} cannot be read: {error.strerror or error}", next_step=hint) from error
    try:
        data = cast("dict[str, Any]", json.loads(content))
        version = data.get("version", VERSION)
        if isinstance(version, int) and version > VERSION:
            message = f"{_WHAT} in {path} were written by a newer version of Handrail"
            raise StorageTooNew(message, next_step="install the newest Handrail: pip install --upgrade handrail")
        found = tuple(bytes.fromhex(data[name]) for name in ("current", "previous") if data.get(name))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _damage_error(path) from error
    if not data.get("current") or any(len(key) != _BYTES for key in found):
        raise _damage_error(path)
    return found


def _damage_error(path: Path) -> StorageDamaged:
    hint = (
        f"restore {path} from a backup, or remove it: a new key is created, and connected agents, whose tokens"
        " then become invalid, can find their runs again with resume_session"
    )
    return StorageDamaged(f"{_WHAT} in {path} cannot be read", next_step=hint)
