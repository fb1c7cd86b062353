"""Remembers which commits of a branch of a remote are ours, and which command is under way there.

Every branch has files of its own: runs push several branches of a repository at the same time, and each holds only the
lock of its branch.
"""

from hashlib import sha256
from pathlib import Path
from typing import cast

from handrail.frozen import frozen
from handrail.workspace.git.data_places import read_json, write_json

SHARED = "pushes.json"
"""The file that earlier versions had for all branches of a repository."""


@frozen
class PushJournal:
    """What is remembered about a branch of a remote; whoever uses it holds the lock of the branch."""

    folder: Path
    url: str
    branch: str

    @property
    def ours(self) -> tuple[str, ...]:
        """The commit that we pushed last, and the one that we were about to push."""
        found = read_json(self._path("pushes"))
        if isinstance(found, list):
            return tuple(cast("list[str]", found))
        shared = read_json(self.folder / SHARED)
        return tuple(cast("dict[str, list[str]]", shared).get(self._key, ())) if isinstance(shared, dict) else ()

    def note(self, *commits: str) -> None:
        """Note what is ours at the remote."""
        write_json(self._path("pushes"), list(dict.fromkeys(each for each in commits if each)))

    @property
    def command(self) -> Path:
        """The file for the command that is under way."""
        return self._path("push")

    def _path(self, kind: str) -> Path:
        return self.folder / f"{kind}-{sha256(self._key.encode(errors='surrogateescape')).hexdigest()[:16]}.json"

    @property
    def _key(self) -> str:
        # The address may contain a password.
        return f"{sha256(self.url.encode(errors='surrogateescape')).hexdigest()[:16]} {self.branch}"
