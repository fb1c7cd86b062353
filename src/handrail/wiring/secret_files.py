"""The secrets that the MCP server needs: the bearer token of its clients, and the keys that sign tokens."""

from pathlib import Path

from handrail.store import bearer_token, signing_keys


def bearer_token_path(folder: Path) -> Path:
    """Return the file that holds the bearer token of a data folder."""
    return folder / bearer_token.FILE


def read_bearer_token(path: Path) -> str:
    """Read the token from a file, which is created if it does not exist."""
    return bearer_token.bearer_at(path)


def rotate_signing_keys(folder: Path) -> None:
    """Sign tokens with a new key from now on."""
    signing_keys.rotate(folder)
