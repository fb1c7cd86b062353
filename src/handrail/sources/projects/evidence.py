"""What is found in a folder, and bounded access to the files that it is found in."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from handrail.frozen import frozen
from handrail.model.workflow.settings import FileCheck
from handrail.sources.foreign_files import Refusal, decode, is_contained, is_inside, read_bytes, scan

NAMES = ("test", "lint", "types", "build")
"""The checks that are looked for, in the order in which they are written."""
MAX_ENTRIES = 5000


@frozen
class Check:
    """A command that must pass, and the file that is the evidence for it."""

    name: str
    command: str
    evidence: str


@frozen
class ProjectEvidence:
    """What the files of one kind of project show."""

    kind: str
    """Its suffix in the names of checks: `node`, `python`."""
    checks: tuple[Check, ...] = ()
    setup: tuple[str, ...] = ()
    """Commands that prepare a fresh copy."""
    notes: tuple[str, ...] = ()
    """What a person should know about it."""
    one: FileCheck | None = None
    """How the tests of one file are run."""
    sources: tuple[str, ...] = ()
    """Globs of the product's own code, tests left out."""
    outdated: str = ""
    """The command that prints `NAME CURRENT WANTED` for each outdated package."""
    update: str = ""
    """The command that updates `$PACKAGE` to `$VERSION`."""


@frozen
class ProjectFolder:
    """A folder of the repository, as detectors see it."""

    root: Path
    """The repository; nothing outside it is read."""
    folder: Path
    ignored: frozenset[str] = frozenset()
    """Names such as `.venv` that git ignores here."""

    def has(self, *names: str) -> str:
        """Return the first of the files that exists; empty for none."""
        return next((name for name in names if (self.folder / name).is_file()), "")

    def text(self, name: str) -> str:
        """Read a file's text; empty when it cannot be used."""
        data = read_bytes(self.folder / name, self.root)
        text = data if isinstance(data, Refusal) else decode(data)
        return "" if isinstance(text, Refusal) else text.removeprefix("\ufeff")

    def json(self, name: str) -> dict[str, Any]:
        """Read a JSON object; empty when there is none."""
        try:
            return ensure_table(json.loads(self.text(name) or "{}"))
        except (ValueError, RecursionError):
            return {}

    def toml(self, name: str) -> dict[str, Any]:
        """Read a TOML file's tables; empty when there are none."""
        import tomllib  # noqa: PLC0415 (most folders have no such file)

        try:
            return tomllib.loads(self.text(name))
        except (ValueError, RecursionError):
            return {}

    def files(self, ending: str) -> list[str]:
        """List the visible files of the folder with an ending."""
        return [name for name in self.entries() if name.endswith(ending) and (self.folder / name).is_file()]

    def entries(self) -> list[str]:
        """List what is visible in the folder and has a printable name."""
        try:
            return [entry.name for entry in scan(self.folder, MAX_ENTRIES) if entry.name.isprintable()]
        except OSError:
            return []

    def folders(self) -> "list[ProjectFolder]":
        """List the folders inside, except links."""
        inside = (self.folder / name for name in self.entries())
        return [self.look_into(path) for path in inside if path.is_dir() and not path.is_symlink()]

    def look_into(self, folder: Path) -> "ProjectFolder":
        """Return the view of another folder of the repository."""
        return ProjectFolder(self.root, folder, self.ignored)

    def find_matching(self, pattern: str) -> "list[ProjectFolder]":
        """List the folders that a member pattern such as `packages/*` matches."""
        plain = pattern.strip().removeprefix("./").rstrip("/")
        if not is_contained(plain) or "**" in plain.removesuffix("/**"):
            return []
        found = sorted(self.folder.glob(plain.replace("/**", "/*")))[:MAX_ENTRIES]
        return [self.look_into(path) for path in found if path.is_dir() and is_inside(path, self.root)]


def ensure_table(value: object) -> dict[str, Any]:
    """Convert a value to a table with text keys; empty when it is not a table."""
    if not isinstance(value, dict):
        return {}
    return {str(key): each for key, each in cast("dict[object, Any]", value).items()}


def ensure_texts(value: object) -> list[str]:
    """Return the texts of a list; empty when it is not a list."""
    listed = cast("list[object]", value) if isinstance(value, list) else []
    return [each for each in listed if isinstance(each, str)]


def find_table(table: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return a table inside a table; empty when it does not exist."""
    for name in names:
        table = ensure_table(table.get(name))
    return table


def checks_of(found: Iterable[Check | None]) -> tuple[Check, ...]:
    """Remove the checks that were not found."""
    return tuple(check for check in found if check is not None)


def build_file_check(command: str, *failed: int, when: str = "") -> FileCheck:
    """Build the check of one file that workflows use by the name `test_one`."""
    return FileCheck("test_one", command, failed, failed_when=when)


def filter_command(listing: str, lines: str, most: int = 0) -> str:
    """Build a command that does not lose a failure (a code above `most`) in the pipe that formats its output."""
    judged = f'|| [ $? -le {most} ] || {{ printf "%s\\n" "$list" >&2; exit 1; }}'
    return f'list=$({listing}) {judged}; printf "%s\\n" "$list" | {lines}'


def find_globs(look: "ProjectFolder", *folders: str) -> tuple[str, ...]:
    """Return the globs of those folders that exist."""
    return tuple(f"{name}/**" for name in folders if (look.folder / name).is_dir())


def has_word(text: str, word: str) -> bool:
    """Whether a text contains something as a word of its own."""
    return re.search(rf"(?<![\w.-]){re.escape(word)}(?![\w-])", text) is not None
