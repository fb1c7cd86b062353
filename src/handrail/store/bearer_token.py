"""The token that a client of the HTTP server must present: created once, stored in a file that only its owner reads."""

import os
import secrets
from pathlib import Path

from handrail.errors import EnvironmentFault
from handrail.store.private_files import create_once

FILE = "mcp-token"
_MIN_LENGTH = 16


def bearer_at(path: Path) -> str:
    """Read the token from a file; the first caller creates it, however many call at once."""
    if not os.path.lexists(path):
        create_once(path, f"{secrets.token_urlsafe(32)}\n", "the token")
    return _read(path)


def _read(path: Path) -> str:
    try:
        if path.stat().st_mode & 0o077:
            raise EnvironmentFault(f"other users can read the token in {path}", next_step=f"chmod 600 {path}")
        token = path.read_text("ascii").strip()
    except UnicodeDecodeError:
        token = ""
    except OSError as error:
        hint = "make it a file that your user owns and can read, or name another one with --token-file"
        raise EnvironmentFault(f"the token in {path} cannot be read: {error.strerror}", next_step=hint) from error
    if len(token) < _MIN_LENGTH or not token.isprintable() or " " in token:
        message = f"{path} does not contain a token: one line of at least {_MIN_LENGTH} characters without spaces"
        raise EnvironmentFault(message, next_step=f"rm {path}: a new one is created at the next start")
    return token
