"""A person's folders around Handrail's own, and a look at whether anything in them was touched."""

import hashlib
import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from handrail.cli.main import cli
from support.security.black_box import BlackBox, make_black_box

WIDE = """
name: wide
steps:
  - {name: write, command: "printf work > work.txt"}
  - name: each
    type: parallel-agents
    for_each: [one, two]
    steps:
      - {name: item, command: "printf item > item.txt"}
  - {name: ok, type: approval, message: Go on?}
  - {name: last, command: "MARK"}
"""
CALLS = """
name: calls
steps:
  - {name: write, command: "printf work > work.txt"}
  - {name: inner, type: workflow, workflow: inner}
  - {name: last, command: "MARK"}
"""
INNER = """
name: inner
steps:
  - {name: ok, type: approval, message: Go on?}
  - {name: deep, command: "MARK"}
"""
OTHER = """
name: other
steps:
  - {name: write, command: "printf other > other.txt"}
  - {name: ok, type: approval, message: Go on?}
  - {name: done, command: "true"}
"""
RUNS = ("wide-1", "wide-2", "calls-1", "other-1")
"""The runs that are exported; the second one is a copy of the first, which names a state in a content."""
_OWN = ("objects", "refs/handrail", "logs", "handrail")
"""What Handrail may write of a repository's own folder: objects, and refs of its own, which are compared by git."""


@dataclass(frozen=True, slots=True)
class Ground:
    """A box that is put back to how it was before every example."""

    box: BlackBox
    kept: Path
    exports: dict[str, dict[str, Any]] = field(repr=False)

    def restore(self) -> None:
        """Put everything back."""
        shutil.rmtree(self.box.base)
        shutil.copytree(self.kept, self.box.base, symlinks=True)

    def call(self, *words: str) -> tuple[int, str]:
        """Call the command line in this process; gives its exit code and what it printed to standard output."""
        before = Path.cwd()
        os.chdir(self.box.repository)
        try:
            done = CliRunner().invoke(cli, words, env=self.box.env)
        finally:
            os.chdir(before)
        assert done.exception is None or isinstance(done.exception, SystemExit), (words, done.exception, done.output)
        assert "internal error" not in done.output, (words, done.output)
        assert "Traceback" not in done.output, (words, done.output)
        return done.exit_code, done.stdout

    def look(self) -> dict[str, str]:
        """Tell what everything is that is not Handrail's, and the files of the runs that were here before."""
        box = self.box
        mine = (box.repository, box.base / "victim", box.base / "linked", box.base / "person", box.loot)
        found = {f"{path}": _mark(path) for folder in mine for path in sorted(folder.rglob("*")) if _is_mine(path)}
        trees = box.home / "data" / "worktrees"
        found |= {f"{path}": _mark(path) for path in sorted(trees.rglob("*"))}
        found["worktrees"] = box.git("worktree", "list", "--porcelain")
        for line in box.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines():
            name, _, value = line.partition(" ")
            found[name] = value
        return found


def make_ground(base: Path) -> Ground:
    """Make a person with two checkouts, a run of theirs, and exports of three more runs."""
    box = make_black_box(base / "box")
    for name, text in {"wide": WIDE, "calls": CALLS, "inner": INNER, "other": OTHER}.items():
        box.write_own(f"workflows/{name}/workflow.yaml", text.replace("MARK", box.mark(name)))
    for name in ("wide", "calls", "other"):
        answer = box.call("run", name)
        assert answer.exit_code == 3, answer.text
    assert box.call("fork", "wide-1", "ok").exit_code == 0
    box.git("clone", "-q", str(box.repository), str(box.base / "victim"))
    (box.base / "victim" / "uncommitted.txt").write_text("mine")
    box.git("worktree", "add", "-q", "-b", "mine", str(box.base / "linked"))
    exports = {run: json.loads(box.call("export", run, "--json").out) for run in RUNS}
    kept = base / "kept"
    shutil.copytree(box.base, kept, symlinks=True)
    return Ground(box, kept, exports)


def _is_mine(path: Path) -> bool:
    names = path.parts
    if ".git" not in names:
        return True
    inside = "/".join(names[names.index(".git") + 1 :])
    return not any(inside == own or inside.startswith(f"{own}/") for own in _OWN)


def _mark(path: Path) -> str:
    if path.is_symlink():
        return f"link {path.readlink()}"
    return "folder" if path.is_dir() else hashlib.sha256(path.read_bytes()).hexdigest()
