"""What is left of a run in a real repository, told so that two runs can be compared: no ids, no times."""

import json
import os
import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail.ports.log import Log
from handrail.runtime.history import events_of, state_of
from handrail.store.sqlite.log import open_log
from support.runtime.room import assert_sound, steps_of

_ID = re.compile(r"\b[0-9a-f]{40}\b")
_SHORT = re.compile(r"\bMerge [0-9a-f]{12}\b")
_PLACE = re.compile(r"(worktrees/repo-|indexes/|views/)[0-9a-f]+")
_START = re.compile(r"(/runs/[^/]+/[^/]+/[\w-]+)\.\d+(\.input)?(/|$)")


@dataclass(frozen=True)
class Ending:
    """All that must be the same however often the driver died."""

    states: dict[str, Any]
    """Of each run: how it stands, its steps, its values."""
    events: dict[str, list[str]]
    """Of each run: what happened, where; in no order, since items end as they like."""
    branches: dict[str, Any]
    """Of each branch: its history as trees and messages."""
    trees: dict[str, Any]
    """Of each work tree: its files, what git says of them, and what is unfinished in it; nothing if it is gone."""
    refs: list[str]
    files: list[str]
    """Everything in the data folder and in the repository's own, without the objects."""


def git(where: Path, *words: str, stdin: str = "") -> str:
    """Ask git something."""
    done = subprocess.run(["git", *words], cwd=where, input=stdin, capture_output=True, text=True, check=False)
    assert not done.returncode, f"git {words}: {done.stderr}"
    return done.stdout


def ending(folder: Path) -> Ending:
    """Look at everything that a run left."""
    log = open_log(folder / "data")
    try:
        assert_sound(log)
        assert not log.pending_streams()
        plain = _plain_names(log, folder)
        return _ending(log, folder, plain)
    finally:
        log.close()


def _plain_names(log: Log, folder: Path) -> dict[str, str]:
    """What runs and folders are called, with the names under which they are compared."""
    names = {str(folder): "FOLDER"}
    met = Counter[str]()
    for run in sorted(log.streams(), key=lambda run: (len(run), run)):
        prefix = getattr(events_of(log, run)[0][1], "prefix", "") if "." in run else ""
        met[prefix] += 1
        names[run] = f"item {prefix} {met[prefix]}" if prefix else run
    return dict(sorted(names.items(), key=lambda pair: -len(pair[0])))


def _ending(log: Log, folder: Path, plain: dict[str, str]) -> Ending:
    repo = folder / "repo"
    states = {run: state_of(log, run) for run in log.streams()}
    branches = git(repo, "for-each-ref", "--format=%(refname)", "refs/heads").split()
    refs = git(repo, "for-each-ref", "--format=%(refname)").split()
    made = {
        "states": {
            run: [state.status, state.reason, state.message, steps_of(state), dict(sorted(state.names.items()))]
            for run, state in states.items()
        },
        "events": {run: sorted(_words(event) for _, event in events_of(log, run)) for run in states},
        "branches": {branch: _history(repo, branch) for branch in branches},
        "trees": {
            state.workspace: _tree(Path(state.workspace)) if Path(state.workspace).is_dir() else {}
            for state in states.values()
            if state.workspace
        },
        "refs": [ref for ref in refs if not ref.startswith("refs/handrail/kept/")],
        "files": _files(folder),
    }
    text = json.dumps(made, default=str)
    text = _SHORT.sub("Merge", _without_ids(repo, text))
    for name, shown in plain.items():
        text = text.replace(name, shown)
    told: dict[str, Any] = json.loads(_PLACE.sub(r"\1", text))
    told.update(refs=sorted(told["refs"]), files=sorted(set(told["files"])))
    return Ending(**told)


def _without_ids(repo: Path, text: str) -> str:
    """Name commits by their files, since their ids hold times."""
    found = list(dict.fromkeys(_ID.findall(text)))
    lines = git(repo, "cat-file", "--batch-check", stdin="".join(f"{each}^{{tree}}\n" for each in found)).splitlines()
    trees = {each: line.split()[0][:40] for each, line in zip(found, lines, strict=True)}
    return _ID.sub(lambda match: f"tree {trees[match.group()]}", text)


def _words(event: Any) -> str:
    return " ".join(str(getattr(event, name, "")) for name in ("kind", "address", "key", "status", "round"))


def _history(repo: Path, branch: str) -> list[str]:
    """Each commit with its files, its words and the files of its parents."""
    listing = git(repo, "log", "--format=%T|%s|%P", branch, "--not", "main").splitlines()
    return sorted(listing)


def _tree(path: Path) -> dict[str, Any]:
    own = Path(git(path, "rev-parse", "--absolute-git-dir").strip())
    listed = [Path(where) / name for where, _, names in os.walk(path) for name in names if name != ".git"]
    return {
        "files": {str(each.relative_to(path)): each.read_text("utf-8") for each in sorted(listed)},
        "status": git(path, "status", "--porcelain=v2", "--branch"),
        "unfinished": sorted(each.name for each in own.iterdir() if each.name.endswith(("HEAD", "_MSG", ".lock"))),
    }


def _files(folder: Path) -> list[str]:
    """Paths of files; of several starts of one command, and of what they were told, one."""
    found = [Path(where) / name for where, _, names in os.walk(folder) for name in names]
    found += (folder / "data" / "worktrees").glob("*/*")
    kept = [each for each in found if not _is_inside(each.relative_to(folder))]
    return [_START.sub(r"\1\3", str(each)) for each in kept]


def _is_inside(path: Path) -> bool:
    parts = path.parts
    if parts[0] == "killed" or parts[:3] == ("repo", ".git", "objects"):
        return True
    if parts[:2] == ("data", "runs") and path.name in ("process.json", "status", "stdout", "stderr"):
        # How often a command was started, and which of its starts came to a status, differs with the deaths.
        return True
    # So does what was put aside, and how refs moved.
    return "kept" in parts or "logs" in parts or (parts[:2] == ("data", "worktrees") and len(parts) > 4)
