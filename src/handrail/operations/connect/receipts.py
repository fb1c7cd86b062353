"""Records what Handrail wrote into files of agents, so that exactly that can be removed."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from handrail.frozen import frozen
from handrail.operations.atomic_files import replace_file

FILE = "connections.json"
VERSION = 1


@frozen
class Receipt:
    """One insertion."""

    text: str
    table: bool = False
    """Whether the table around the entry was written with it."""
    folders: tuple[str, ...] = ()
    """The folders that were created for the file, the outermost first."""
    file: bool = False
    """Whether the file was created for it."""


@frozen
class Receipts:
    """The receipts of a user, by the path of the file."""

    folder: Path

    def find(self, path: Path) -> Receipt | None:
        """Return what was written into a file, or None."""
        found = self._read().get(str(path))
        if not isinstance(found, dict):
            return None
        fields = cast("dict[str, Any]", found)
        try:
            return Receipt(
                str(fields["text"]), bool(fields["table"]), tuple(map(str, fields["folders"])), bool(fields["file"])
            )
        except (KeyError, TypeError):
            return None

    def keep(self, path: Path, receipt: Receipt | None) -> None:
        """Record what was written into a file, or forget it."""
        known = {key: value for key, value in self._read().items() if key != str(path)}
        if receipt is not None:
            known[str(path)] = asdict(receipt)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        written = json.dumps({"version": VERSION, "files": known}, indent=1)
        replace_file(self.folder / FILE, f"{written}\n".encode())

    def _read(self) -> Mapping[str, object]:
        with suppress(OSError, ValueError):
            read: object = json.loads((self.folder / FILE).read_bytes())
            files = cast("dict[str, object]", read).get("files") if isinstance(read, dict) else None
            return cast("dict[str, object]", files) if isinstance(files, dict) else {}
        return {}
