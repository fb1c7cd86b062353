"""The SQL of the store: named statements and numbered migrations, read once from the `.sql` files beside this one."""

from functools import cache
from pathlib import Path

NAME = "-- name: "


@cache
def migrations() -> tuple[str, ...]:
    """Return the scripts that migrate a database from each version to the next, the first one from 0 to 1."""
    found = sorted((_folder() / "migrations").iterdir(), key=lambda file: file.name)
    return tuple(file.read_text("utf-8") for file in found if file.name.endswith(".sql"))


@cache
def statements() -> dict[str, str]:
    """Return all statements by their names."""
    found: dict[str, str] = {}
    for file in _folder().iterdir():
        if file.name.endswith(".sql"):
            blocks = [block.partition("\n") for block in file.read_text("utf-8").split(NAME)[1:]]
            found.update({name.strip(): _code(body) for name, _, body in blocks})
    return found


def _folder() -> Path:
    # importlib.resources would do the same for zipped packages too, at a third of a short command's start-up.
    return Path(__file__).parent / "sql"


def _code(body: str) -> str:
    return "\n".join(line for line in body.splitlines() if line and not line.startswith("--"))
