"""Makes, restores and snapshots the worktree of a run, and performs the steps that concern it: commit and merge.

1. Every git operation may be repeated after a crash; it finds what was done before.
2. Git runs in a thread, so that one run's worktree never blocks another run.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from handrail.engine.text.globs import literal_folders, matches
from handrail.errors import EnvironmentFault
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.history.events import (
    GapRecorded,
    GitSettingsChanged,
    StepBegan,
    StepEnded,
    TreeRestored,
    WorkspaceReady,
)
from handrail.model.history.run_state import FILTER_GAP, Pending, RunState
from handrail.model.history.trees import Tree, TreeSource
from handrail.model.workflow.values import JsonValue
from handrail.ports.workspaces import Conflict, FileRange, Merged, Snapshot, Source, Workspaces
from handrail.runtime.handlers.commands.start_command import (
    CommandContext,
    CommandStarter,
    LostCommand,
    ResolvedCommand,
)
from handrail.runtime.ports import Clock

if TYPE_CHECKING:
    from handrail.engine.text import host_text
else:
    host_text = late_import("handrail.engine.text.host_text")

P = ParamSpec("P")
T = TypeVar("T")


@frozen
class TreeHandler:
    """Performs everything that concerns worktrees."""

    workspaces: Workspaces
    starts: CommandStarter
    folder: Path
    clock: Clock

    async def settle(self, state: RunState) -> WorkspaceReady | TreeRestored:
        """Make the worktree that a run waits for, or bring it back to the state that the run expects."""
        if state.source is not None:
            return await self._make_tree(state, state.source)
        if self.is_gone(state):
            return await self._remake_tree(state)
        if state.tree is not None and not state.snapshot:
            return await self._record_baseline(state, state.tree)
        kept = await self.restore(state, state.restore)
        # A borrowed worktree is not changed, and so its last snapshot stays valid.
        snapshot = state.restore if state.tree is not None and state.tree.owned else state.snapshot
        return TreeRestored(snapshot=snapshot, kept=kept, at=self.clock())

    def is_gone(self, state: RunState) -> bool:
        """Whether the run's own worktree existed once and cannot be used any more."""
        tree = state.tree
        return tree is not None and tree.owned and not self.workspaces.is_there(tree)

    async def _record_baseline(self, state: RunState, tree: Tree) -> WorkspaceReady:
        """Take a snapshot of a worktree that is not the run's own, against which its changes are measured."""
        if not tree.owned:
            await run_in_thread(self.workspaces.record_settings, tree)
        taken = await run_in_thread(self.workspaces.snapshot, tree, state.run)
        measured = tree if tree.owned or tree.commit else replace(tree, commit=taken.id)
        return WorkspaceReady(tree=measured, snapshot=taken.id, files=taken.tree, at=self.clock())

    async def _remake_tree(self, state: RunState) -> WorkspaceReady:
        """Recreate a worktree that somebody removed, and bring it to the state that the run expects."""
        tree = cast("Tree", state.tree)
        source = state.pinned or TreeSource(
            repository=tree.repository, base=tree.base, commit=tree.commit, branch=tree.branch
        )
        # A called workflow works in the worktree of its caller, after which the folder is named.
        made = await self._make_tree(state, source, Path(tree.path).name)
        wanted = state.restore or state.snapshot
        if not wanted:
            return made
        await run_in_thread(self.workspaces.restore, made.tree, state.run, wanted)
        taken = await run_in_thread(self.workspaces.snapshot, made.tree, state.run, wanted)
        pending = state.pending
        begun = pending is not None and pending.kind == "step" and (self.folder / state.run / str(pending.seq)).is_dir()
        return replace(made, snapshot=taken.id, files=taken.tree, again=begun)

    async def _make_tree(self, state: RunState, source: TreeSource, owner: str = "") -> WorkspaceReady:
        wanted = Source(
            run=owner or state.run,
            repository=source.repository,
            base=source.base,
            commit=source.commit,
            branch=source.branch,
            copy=source.copy,
            changes=source.changes,
            merge=source.merge,
            teardown=source.teardown,
            teardown_timeout=source.teardown_timeout,
            # The worktree of a caller is found by name only: the called workflow does not know when the caller began.
            born="" if owner else repr(state.birth),
        )
        tree = await run_in_thread(self.workspaces.prepare, wanted)
        await self._run(state, tree, source)
        await run_in_thread(self.workspaces.record_settings, tree)
        taken = await run_in_thread(self.workspaces.snapshot, tree, state.run)
        return WorkspaceReady(tree=tree, snapshot=taken.id, files=taken.tree, at=self.clock())

    async def _run(self, state: RunState, tree: Tree, source: TreeSource) -> None:
        """Run the set-up commands, each once, however often the driver dies meanwhile."""
        effect = CommandContext(
            run=state.run,
            seq=state.seq,
            workspace=tree.path,
            base=self.folder / state.run / f"setup-{state.seq}",
            timeout=source.setup_timeout,
            pass_env=state.pass_env,
            until=asyncio.get_running_loop().time() + source.setup_timeout,
        )
        try:
            for number, command in enumerate(source.setup):
                result = await self.starts.run(effect, ResolvedCommand(str(number), "set-up", command, may_lack=True))
                if isinstance(result, LostCommand):
                    raise _setup_error(command, result.why)
                if result.code != 0:
                    raise _setup_error(command, result.error or result.stderr or f"exit {result.code}")
        except asyncio.CancelledError:
            for number, _ in enumerate(source.setup):
                await self.starts.stop(effect, str(number))
            raise

    async def restore(self, state: RunState, snapshot: str = "") -> str:
        """Restore an owned worktree to a snapshot, by default the newest; return the ref that saves the old state."""
        wanted = snapshot or state.snapshot
        if state.tree is None or not state.tree.owned or not wanted:
            return ""
        return await run_in_thread(self.workspaces.restore, state.tree, state.run, wanted)

    async def snapshot(self, state: RunState, since: str) -> Snapshot | None:
        """Take a snapshot of the worktree after a step, by the rules of the snapshot on which the step began."""
        if state.tree is None:
            return None
        # Where nothing changed, looking takes less time than a thread.
        unchanged = self.workspaces.recall_snapshot(state.tree, state.run, since)
        return unchanged or await run_in_thread(self.workspaces.snapshot, state.tree, state.run, since)

    def note_step(self, state: RunState) -> None:
        """Note that a step begins: should its driver die, another run looks at what it did to git's settings."""
        if state.tree is not None:
            # An empty file takes less time than a thread.
            self.workspaces.note_step(state.tree)

    async def look_at_settings(self, state: RunState, tree: Tree | None) -> tuple[GitSettingsChanged, ...]:
        """Return the changed settings that make the user's git start programs, where they are not recorded yet."""
        found: tuple[str, ...] = ()
        if tree is not None:
            recalled = self.workspaces.recall_settings(tree)
            found = await run_in_thread(self.workspaces.look_at_settings, tree) if recalled is None else recalled
        if found == state.git_changes:
            return ()
        address = "" if state.pending is None else state.pending.address
        return (GitSettingsChanged(changes=found, address=address, at=self.clock()),)

    async def report_unused_filters(self, state: RunState, tree: Tree) -> tuple[GapRecorded, ...]:
        """Report once, when a worktree was made, which files cannot be committed from it."""
        found = await run_in_thread(self.workspaces.list_unused_filters, tree) if tree.owned else ()
        known, now = [gap.get("message") for gap in state.gaps], self.clock()
        return tuple(
            GapRecorded(category="capability_missing", severity="warning", message=each, about=FILTER_GAP, at=now)
            for each in found
            if each not in known
        )

    async def list_changed_paths(self, state: RunState, since: str) -> tuple[str, ...]:
        """List the paths that changed since a snapshot, relative to the folder in which the run works."""
        if state.tree is None or not since:
            return ()
        found = await run_in_thread(self.workspaces.changes, state.tree, since)
        folder = os.path.relpath(state.workspace, state.tree.path)
        paths = (path for each in found for path in (each.path, each.old) if path)
        return tuple(paths if folder == "." else (os.path.relpath(path, folder) for path in paths))

    async def list_ignored_files(self, state: RunState, below: tuple[str, ...]) -> tuple[str, ...]:
        """List the ignored files below some paths, both relative to the folder in which the run works."""
        if state.tree is None or not below:
            return ()
        folder = os.path.relpath(state.workspace, state.tree.path)
        if folder == ".":
            return await run_in_thread(self.workspaces.list_ignored_paths, state.tree, below)
        places = tuple(f"{folder}/{path}".rstrip("/") for path in below)
        found = await run_in_thread(self.workspaces.list_ignored_paths, state.tree, places)
        return tuple(os.path.relpath(path, folder) + "/" * path.endswith("/") for path in found)

    async def record_files(self, state: RunState, globs: tuple[str, ...], known: str = "") -> str:
        """Record the files of some globs that are in no snapshot; a known record that still exists is reused."""
        if state.tree is None:
            why = "changed files are only known in a git repository, but the run works in a plain folder"
            raise EnvironmentFault(why, next_step="start the run inside a git repository")
        return await run_in_thread(self.workspaces.record_files, state.tree, _range(state, state.tree, globs), known)

    async def list_differing_files(self, state: RunState, globs: tuple[str, ...], record: str) -> tuple[str, ...]:
        """List such files that differ from a record, relative to the folder in which the run works."""
        if state.tree is None:
            return ()
        chosen = _range(state, state.tree, globs)
        found = await run_in_thread(self.workspaces.list_differing_files, state.tree, chosen, record)
        return tuple(os.path.relpath(path, _folder(state, state.tree)) for path in found)

    async def perform(self, state: RunState, pending: Pending, began: StepBegan) -> StepEnded:
        """Perform a commit or a merge."""
        if state.tree is None:
            why = f"step '{pending.address}' needs a git repository, but the run works in a plain folder"
            raise EnvironmentFault(why, next_step="start the run inside a git repository")
        spec = cast("dict[str, Any]", began.spec)
        work = self._commit if began.action == "commit" else self._merge
        output, commit = await run_in_thread(work, state.run, state.tree, spec, pending.address)
        return StepEnded(
            address=pending.address,
            began=pending.seq,
            status="succeeded",
            output=output,
            details={"commit": commit, "branch": state.tree.branch, "summary": _summarize_output(began.action, output)},
            at=self.clock(),
        )

    def _commit(self, run: str, tree: Tree, spec: Mapping[str, Any], step: str) -> tuple[JsonValue, str]:
        paths = None if spec.get("paths") is None else tuple(str(each) for each in spec["paths"])
        commit = self.workspaces.commit(tree, add_run_trailer(str(spec["message"]), run, step), paths)
        return {"commit": commit, "branch": tree.branch}, commit

    def _merge(self, run: str, tree: Tree, spec: Mapping[str, Any], step: str) -> tuple[JsonValue, str]:
        name, how = str(spec["name"]), str(spec["how"])
        message = add_run_trailer(f"Merge {name}", run, step)
        if how == "abandon":
            self.workspaces.restore(tree, run, str(spec["back_to"]))
            return {"abandoned": name}, ""
        if how == "conclude":
            found = self.workspaces.conclude(tree, message)
        else:
            self.workspaces.commit_before_merge(tree, add_run_trailer(f"Work of {run} before merging {name}", run))
            found = self.workspaces.merge(tree, str(spec["commit"]), message, markers=bool(spec["markers"]))
        match found:
            case Merged():
                return {"merged": name, "commit": found.commit}, found.commit
            case Conflict():
                files: list[JsonValue] = list(found.files)
                return {"conflict": files or [found.message]}, ""


def _folder(state: RunState, tree: Tree) -> str:
    """Return the folder in which a run works, relative to the top of its worktree."""
    return os.path.relpath(state.workspace, tree.path)


def _range(state: RunState, tree: Tree, globs: tuple[str, ...]) -> FileRange:
    folder = _folder(state, tree)
    start = "" if folder == "." else f"{folder}/"
    below = tuple(f"{start}{path}".rstrip("/") for path in literal_folders(globs))
    return FileRange(
        since=state.steps[state.pending.address].before if state.pending else state.snapshot,
        below=below,
        wanted=lambda path: path.startswith(start) and any(matches(glob, path[len(start) :]) for glob in globs),
    )


async def run_in_thread(work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """Run a function in a thread; on cancellation, wait for its end, since a thread cannot be stopped.

    Otherwise its changes to a worktree could come after those of the next one.
    """
    task = asyncio.ensure_future(asyncio.to_thread(work, *args, **named))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise


MAX_TITLE_LENGTH = 72


def work_title(state: RunState) -> str:
    """Describe in one line what a run is for: the title of its issue, or its task; its id where it has neither."""
    for value in state.inputs.values():
        title = value.get("title") if isinstance(value, dict) else None
        if isinstance(title, str) and title.strip():
            return _first_line(title)
    task = state.inputs.get("task")
    return _first_line(task) if isinstance(task, str) and task.strip() else f"Work of {state.run}"


def _first_line(text: str) -> str:
    line = " ".join(text.strip().splitlines()[0].split())
    return line if len(line) <= MAX_TITLE_LENGTH else line[: MAX_TITLE_LENGTH - 1].rstrip() + "…"


def add_run_trailer(message: str, run: str, step: str = "") -> str:
    """Append to a commit message the trailers that name the run and, where one made the commit, its step.

    A code host closes an issue that the message of a commit names after a closing keyword; what is written in a task,
    by an agent or in another issue must not do that.
    """
    of_step = f"Handrail-Step: {step}\n" if step else ""
    return f"{host_text.separate_keywords(message.rstrip())}\n\nHandrail-Run: {run}\n{of_step}"


def _summarize_output(action: str, output: JsonValue) -> str:
    if not isinstance(output, dict):
        return ""
    words = {name: value for name, value in output.items() if value}
    return f"{action}: " + ", ".join(f"{name} {value}" for name, value in words.items())


def _setup_error(command: str, why: str) -> EnvironmentFault:
    message = f"the worktree could not be set up: `{command}` failed: {why.strip()[-500:]}"
    return EnvironmentFault(message, next_step="fix [worktrees] in .handrail/config.toml or what it runs, then resume")
