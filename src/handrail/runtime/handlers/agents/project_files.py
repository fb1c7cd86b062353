"""Finds the files by which a repository configures an agent, and checks whether the user has trusted each of them.

They are checked right before a start, on the bytes that the agent will find: a set-up command, an earlier step or the
agent itself may have written them. Only digests are compared, so that nothing of an `.env` is stored or shown.
What cannot be determined for sure counts as not trusted: a link that leads out of the repository, anything but a plain
file, and what is too large or too much to be read at each start.
"""

import json
import os
import shlex
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from hashlib import file_digest
from pathlib import Path

from handrail.frozen import frozen
from handrail.ports.agent_profiles import ProjectFiles
from handrail.ports.agents import Project
from handrail.ports.repositories import TrustedFiles
from handrail.runtime.handlers.agents.hindrances import Refusal

MAX_FILES = 1000
"""The most files that are checked for one start."""
MAX_BYTES = 16 << 20
"""The largest file that is checked, in bytes."""
MAX_NAMED = 20
"""The most files that are named in the record of a call."""
ALL = ("/**/*", "/**")
"""Suffixes of a name that mean everything below a folder."""


@frozen
class Verdict:
    """The result of the check for one start."""

    project: Project
    found: tuple[str, ...] = ()
    """The files, as paths from the root of the repository; those above it in full."""
    untrusted: tuple[str, ...] = ()


def examine(
    files: ProjectFiles, workspace: str, repository: str, trusted: TrustedFiles | None, home: str = ""
) -> Verdict:
    """Check the files that configure an agent in a folder; `repository` is the root of the user's checkout.

    Files directly in the folder `home` are the user's own.
    """
    project = find_project(workspace)
    root, checkout = Path(project.root), project.checkout
    search = _Search(repository or project.root, trusted, os.path.realpath(home) if home else "")
    for folder in project.folders:
        search.look(Path(folder), files.names, root)
    if checkout and files.checkout:
        search.look(Path(checkout), files.names, Path(checkout))
    # Without a repository no agent knows where to stop.
    above = files.above if os.path.lexists(root / ".git") else files.names
    for folder in root.parents:
        search.look(folder, above, None)
    state = "untrusted" if search.untrusted else "trusted" if search.found else "absent"
    found, untrusted = (tuple(dict.fromkeys(each)) for each in (search.found, search.untrusted))
    return Verdict(replace(project, files=state), found, untrusted)


def refusal(agent: str, verdict: Verdict, repository: str) -> Refusal:
    """Explain why an agent that always reads such files is not started, and what helps."""
    outside = tuple(name for name in verdict.untrusted if name.startswith("/"))
    inside = tuple(name for name in verdict.untrusted if name not in outside)
    if inside:
        why = f"{agent} always reads its files in the repository, and you have not trusted {list_names(inside)}"
        hint = f"review them, then: handrail trust {shlex.quote(repository)}"
    else:
        why = f"{agent} always reads files above its folder, and trust does not cover {list_names(outside)}"
        hint = "move it elsewhere, or leave out `--in`"
    return Refusal(why, hint, missing=False)


def list_names(names: tuple[str, ...], most: int = 3) -> str:
    """Format the first of some names: `a, b, c and 4 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def write_note(path: Path, verdict: Verdict) -> None:
    """Store the decision beside the call until its outcome is recorded; nothing where there was nothing to decide."""
    if not verdict.found:
        path.unlink(missing_ok=True)
        return
    named = verdict.untrusted or verdict.found
    record = {"used": not verdict.untrusted, "files": named[:MAX_NAMED], "count": len(named)}
    path.write_text(json.dumps(record), encoding="utf-8")


def find_project(workspace: str) -> Project:
    """Find the repository around a folder; where there is none, use the folder alone."""
    here = Path(os.path.realpath(workspace))
    folders: list[str] = []
    for folder in (here, *here.parents):
        folders.append(str(folder))
        if os.path.lexists(folder / ".git"):
            return Project(tuple(folders), _main_checkout(folder / ".git"))
    return Project((str(here),))


def _main_checkout(link: Path) -> str:
    """Follow the file `.git` of a linked worktree: it names `CHECKOUT/.git/worktrees/NAME`."""
    try:
        named = link.read_text("utf-8", "surrogateescape") if link.is_file() else ""
    except OSError:
        return ""
    place = Path(os.path.realpath(link.parent / named.removeprefix("gitdir:").strip()))
    common = place.parent.parent
    return str(common.parent) if named and place.parent.name == "worktrees" and common.name == ".git" else ""


@dataclass(slots=True)
class _Search:
    """Collects the files that one start depends on."""

    repository: str
    trusted: TrustedFiles | None
    home: str
    found: list[str] = field(default_factory=list[str])
    untrusted: list[str] = field(default_factory=list[str])
    _seen: set[str] = field(default_factory=set[str])

    def look(self, folder: Path, names: tuple[str, ...], root: Path | None) -> None:
        """Collect the files of a folder that have one of the names; paths below `root` are shown relative to it."""
        # Files directly in the home folder are the user's own configuration.
        if str(folder) == self.home:
            return
        for name in names:
            top = folder / name.removesuffix(ALL[0]).removesuffix(ALL[1])
            if not os.path.lexists(top):
                continue
            everything = name.endswith(ALL)
            for path in _walk_folder(top, root or folder) if everything else (top,):
                if everything or not top.is_dir():
                    self._take(path, str(path) if root is None else path.relative_to(root).as_posix(), root or folder)

    def _take(self, path: Path, shown: str, root: Path) -> None:
        # The same relative path may exist in a worktree and in the main checkout, with different content.
        if str(path) in self._seen:
            return
        self._seen.add(str(path))
        self.found.append(shown)
        digest = "" if len(self.found) > MAX_FILES else _digest(path, root)
        if not digest or self.trusted is None or not self.trusted.covers(self.repository, shown, digest):
            self.untrusted.append(shown)


def _walk_folder(top: Path, root: Path) -> Iterator[Path]:
    """Walk a folder and the folders that it links to; yield a folder itself where it is not walked."""
    walked: set[str] = set()
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        real = os.path.realpath(folder)
        if real in walked:
            continue
        walked.add(real)
        if len(walked) > MAX_FILES or not Path(real).is_relative_to(root):
            yield folder
            return
        try:
            entries = sorted(entry.path for entry in os.scandir(folder))
        except OSError:
            yield folder
            continue
        for number, entry in enumerate(entries):
            if os.path.isdir(entry):  # noqa: PTH112 - it returns False for a broken link
                waiting.append(Path(entry))
            else:
                yield Path(entry)
            if number > MAX_FILES:
                yield folder
                return


def _digest(path: Path, root: Path) -> str:
    """Compute the digest of a plain file in the repository; empty for anything else."""
    try:
        real = Path(os.path.realpath(path, strict=True))
        if not real.is_relative_to(root):
            return ""
        # A pipe that waits for a writer must not block the start.
        handle = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return ""
    try:
        kind = os.fstat(handle)
        if not stat.S_ISREG(kind.st_mode) or kind.st_size > MAX_BYTES:
            return ""
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
    finally:
        os.close(handle)
