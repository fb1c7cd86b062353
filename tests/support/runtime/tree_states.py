"""Everything that can be seen of a work tree, and the command as a person calls it in a repository."""

import json
import os
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail.model.history.events import TreeRestored
from handrail.ports.log import Log
from handrail.runtime.history import events_of, state_of
from handrail.store.sqlite.log import open_log
from support.runtime.steps_room import StepsRoom, git

HANDRAIL = str(Path(sys.executable).parent / "handrail")
Listing = dict[bytes, tuple[str, bytes]]


def listing(folder: Path) -> Listing:
    """Every file below a folder with its kind and content, without git's own."""
    found: Listing = {}
    root = os.fsencode(folder)
    for where, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name != b".git"]
        links = [name for name in folders if os.path.islink(where + b"/" + name)]  # noqa: PTH114 - names that are no text
        for name in (*files, *links):
            full = where + b"/" + name
            if name != b".git":
                found[os.path.relpath(full, root)] = _kind(full)
    return found


def _kind(full: bytes) -> tuple[str, bytes]:
    mode = os.lstat(full).st_mode
    if stat.S_ISLNK(mode):
        return "link", os.readlink(full)  # noqa: PTH115
    return ("run" if mode & 0o100 else "file"), Path(os.fsdecode(full)).read_bytes()


def tracked(folder: Path) -> Listing:
    """The same without ignored files, which no snapshot touches."""
    return {path: what for path, what in listing(folder).items() if not path.endswith(b".log")}


def everything(folder: Path) -> tuple[object, ...]:
    """Files, index, HEAD and branch of a work tree."""
    head, ref = git(folder, "rev-parse", "HEAD"), git(folder, "rev-parse", "--symbolic-full-name", "HEAD")
    return tracked(folder), git(folder, "ls-files", "-s"), head, ref


def outcome(folder: Path) -> tuple[object, ...]:
    """What a run ends with, without what a clock decides: the ids of commits."""
    ref = git(folder, "rev-parse", "--symbolic-full-name", "HEAD")
    history = git(folder, "log", "--format=%T %s")
    return tracked(folder), git(folder, "ls-files", "-s"), history, ref


def all_refs(repo: Path) -> dict[str, str]:
    """Every ref of a repository with what it names."""
    rows = (line.split(" ") for line in git(repo, "for-each-ref", "--format=%(refname) %(objectname)").splitlines())
    return {row[0]: row[1] for row in rows}


def restorations(shop: StepsRoom, run: str) -> list[TreeRestored]:
    """How often the files were brought back, and to what."""
    return [event for _, event in events_of(shop.log, run) if isinstance(event, TreeRestored)]


@dataclass(frozen=True)
class Person:
    """Somebody who calls the command in a repository that is trusted as a whole."""

    shop: StepsRoom
    script: dict[str, Any]

    @property
    def home(self) -> Path:
        return self.shop.folder / "handrail-home"

    def writes(self, name: str, text: str) -> None:
        """Write a workflow, outside the repository."""
        path = self.home / "workflows" / name / "workflow.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        (self.home / "config.toml").write_text(f'[trust]\nrepositories = ["{self.shop.repo}"]\n')
        (self.shop.folder / "script.json").write_text(json.dumps(self.script))

    def runs(self, *words: str, code: int = 0) -> str:
        """Run a workflow with the scripted agent; gives all that is said."""
        script = str(self.shop.folder / "script.json")
        return self.calls("run", *words, "--agent", "scripted", "--script", script, code=code)

    def calls(self, *words: str, code: int = 0) -> str:
        """Call a command; gives all that is said."""
        env = {**os.environ, "HANDRAIL_HOME": str(self.home), "LOGNAME": "ann"}
        done = subprocess.run(
            [HANDRAIL, *words], cwd=self.shop.repo, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        said = (done.stdout + done.stderr).decode()
        assert done.returncode == code, said
        return said

    @property
    def log(self) -> Log:
        return open_log(self.home / "data")

    def tree(self, run: str) -> Path:
        """The work tree of a run."""
        log = self.log
        tree = state_of(log, run).tree
        log.close()
        assert tree is not None
        return Path(tree.path)
