"""The token that a client of the HTTP server must show: made once, kept in a file that only its owner reads."""

import contextlib
import os
import secrets
from pathlib import Path

from handrail.errors import EnvironmentFault

FILE = "mcp-token"
_SHORTEST = 16


def bearer_at(path: Path) -> str:
    """Give the token of a file; the first caller makes it, however many call at once."""
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(f"{secrets.token_urlsafe(32)}\n")
        # Of several that make one at once, one is first; a link never replaces what is there.
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    return _read(path)


def _read(path: Path) -> str:
    if path.stat().st_mode & 0o077:
        raise EnvironmentFault(f"others can read the token in {path}", next_step=f"chmod 600 {path}")
    try:
        token = path.read_text("ascii").strip()
    except UnicodeDecodeError:
        token = ""
    if len(token) < _SHORTEST or not token.isprintable() or " " in token:
        message = f"{path} holds no token: one line of at least {_SHORTEST} characters without spaces"
        raise EnvironmentFault(message, next_step=f"rm {path}: a new one is made at the next start")
    return token
