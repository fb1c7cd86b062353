"""The secrets that the MCP server needs: the bearer token of its clients, and the keys that tokens are signed with."""

from pathlib import Path

from handrail.store import bearer_token, signing_keys


def bearer_token_path(folder: Path) -> Path:
    """Give the file in which the bearer token of a data folder is kept."""
    return folder / bearer_token.FILE


def read_bearer_token(path: Path) -> str:
    """Give the token of a file, which is made when it does not exist."""
    return bearer_token.bearer_at(path)


def rotate_signing_keys(folder: Path) -> None:
    """Sign tokens with a new key from now on."""
    signing_keys.rotate(folder)
