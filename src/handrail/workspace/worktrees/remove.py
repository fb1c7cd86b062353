"""The only place that removes worktrees, branches and refs, and the rule for it.

A folder is removed when its record says that it was made for this very run (`records.require_own`), and with it the
entry in the repository that names it. A branch is deleted when the record of the run names it and the repository says
that it was made for that run. A ref is deleted only below `refs/handrail/`, and only at the commit that was checked.
A test looks for removals elsewhere.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from handrail.errors import WorkspaceFault
from handrail.processes.environment import filter_environment
from handrail.workspace.git.command import Git
from handrail.workspace.git.data_places import DataLayout, safe_name
from handrail.workspace.git.repositories import common_dir, find_root
from handrail.workspace.snapshots.state import REFS
from handrail.workspace.worktrees.records import (
    WorktreeRecord,
    admin_folders,
    owner_ref,
    read_record,
    record_path,
    require_own,
)

_REMOVED = ".removed"
"""Ends the name of a worktree's folder while it is removed."""
LOG = "teardown.log"
"""The file of the data folder that lists the commands that failed."""


def remove_worktree(places: DataLayout, record: WorktreeRecord, common: Path) -> None:
    """Remove a run's worktree and its entry; hold the repository's lock, and keep what is in it before."""
    remove_files(places, record, common)
    _remove_folder(places.private_folder(Path(record.path)))


def remove_files(places: DataLayout, record: WorktreeRecord, common: Path) -> None:
    """Remove a run's worktree and its entry, and leave what we remember of it; hold the repository's lock."""
    path = Path(record.path)
    require_own(places, path, record.run)
    aside = path.with_name(f"{path.name}{_REMOVED}")
    _remove_folder(aside)
    if os.path.lexists(path):
        # At once, so that a part of it is never taken for all of it.
        path.rename(aside)
    _remove_folder(aside)
    remove_entries(path, common)


def remove_entries(path: Path, common: Path) -> None:
    """Remove the repository's entries for a worktree of ours whose folder is gone."""
    if not os.path.lexists(path):
        for entry in admin_folders(path, common):
            _remove_folder(entry)


def set_aside(path: Path) -> Path | None:
    """Move away what is in the place of a worktree of ours; return its new place, None where there was nothing.

    It may contain somebody's work, so it is never removed.
    """
    if not os.path.lexists(path):
        return None
    if path.is_dir() and not path.is_symlink() and not any(path.iterdir()):
        path.rmdir()
        return None
    number = 1
    while os.path.lexists(aside := path.with_name(f"{path.name}.set-aside-{number}")):
        number += 1
    return path.rename(aside)


def forget_record(record: WorktreeRecord) -> None:
    """Delete the record of a removed worktree, as the last step: until then its removal can be finished."""
    note = record_path(Path(record.path).parent, record.run)
    note.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        note.parent.rmdir()


def delete_branch(git: Git, record: WorktreeRecord) -> None:
    """Delete the branch that was made for a run, with the ref that names its owner; save its commit before."""
    owner = owner_ref(record.run, record.branch)
    began = git.query("rev-parse", "--verify", "-q", owner)
    if began is None:
        return
    ref = f"refs/heads/{record.branch}"
    tip = git.query("rev-parse", "--verify", "-q", ref)
    if tip is not None:
        git.out("update-ref", "-d", ref, tip)
        config = ("config", "--file", str(common_dir(git.where) / "config"))
        git.run(*config, "--remove-section", f"branch.{record.branch}", ok=(0, 128))
    delete_ref(git, owner, began)


def delete_ref(git: Git, ref: str, commit: str) -> None:
    """Delete a ref of ours, unless it no longer names the commit that was checked."""
    if not ref.startswith(REFS):
        raise WorkspaceFault(f"{ref} is not one of Handrail's refs", next_step=f"inspect it: git show {ref}")
    git.out("update-ref", "-d", ref, commit)


def throw_away(places: DataLayout, repository: Path, run: str) -> None:
    """Remove a worktree that was only made to try something, with its branch; nothing of it is saved."""
    root = find_root(repository)
    common = common_dir(root)
    path = places.worktrees(root, common) / safe_name(run)
    with places.lock(path), places.lock(common) as lock:
        record = read_record(record_path(path.parent, run))
        if record is None:
            return
        remove_worktree(places, record, common)
        delete_branch(places.git(root).with_locks(lock), record)
        forget_record(record)
    with contextlib.suppress(OSError):
        path.parent.parent.rmdir()


def tear_down(places: DataLayout, record: WorktreeRecord) -> None:
    """Run the tear-down commands of a worktree; failures are logged and stop nothing."""
    until = time.monotonic() + record.teardown_timeout
    for command in record.teardown:
        why = _run_command(command, Path(record.path), until)
        if why:
            with (places.folder / LOG).open("a", encoding="utf-8") as file:
                file.write(f"{record.run}: `{command}` {why}\n")


def _run_command(command: str, path: Path, until: float) -> str:
    """Run one command in a process group of its own, which ends with it; return why it failed."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(  # noqa: S603 - from the trusted configuration of the user's checkout
        ["/bin/sh", "-c", command],
        cwd=path,
        env=filter_environment(os.environ),
        stdin=quiet,
        stdout=quiet,
        stderr=quiet,
        start_new_session=True,
    )
    try:
        code = process.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        return "took too long and was killed"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return f"ended with exit code {code}" if code else ""


def _remove_folder(path: Path) -> None:
    """Remove a folder with everything in it, including read-only folders."""
    if not path.is_dir() or path.is_symlink():
        path.unlink(missing_ok=True)
        return
    for folder, _, _ in os.walk(path):
        if not os.access(folder, os.W_OK | os.X_OK):
            Path(folder).chmod(0o700)
    shutil.rmtree(path)
