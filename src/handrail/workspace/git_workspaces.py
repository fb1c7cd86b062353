"""Implements workspaces with real git: worktrees below the data folder, snapshots in the user's repository."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.late_import import late_import
from handrail.model.history.trees import Tree
from handrail.ports.workspaces import FileChange, FileRange, MergeResult, Snapshot, Source
from handrail.workspace.git import repository_view
from handrail.workspace.git.data_places import DataLayout, safe_name
from handrail.workspace.git.repositories import common_dir, find_root
from handrail.workspace.snapshots.index_memo import FEW, MOST_WATCHED, Watches
from handrail.workspace.snapshots.private_index import PrivateIndex
from handrail.workspace.snapshots.state import Commits, run_ref
from handrail.workspace.snapshots.take import take
from handrail.workspace.worktrees import make as worktrees
from handrail.workspace.worktrees import records, settings_record

if TYPE_CHECKING:
    from handrail.ports import delivery
    from handrail.ports.delivery import Leftover, Life, PushRequest, PushResult, Retention, UnfinishedApply
    from handrail.workspace.commits import commit as committing
    from handrail.workspace.commits import merge as merging
    from handrail.workspace.commits import unused_filters
    from handrail.workspace.delivery import apply as applying
    from handrail.workspace.delivery import apply_journal as journals
    from handrail.workspace.delivery import deliver as delivering
    from handrail.workspace.delivery import discard as discarding
    from handrail.workspace.delivery import janitor, remote_git
    from handrail.workspace.delivery import push as pushing
    from handrail.workspace.snapshots import changes, recorded_files
    from handrail.workspace.snapshots import restore as restoring
    from handrail.workspace.snapshots import watch as watching
    from handrail.workspace.worktrees import release as releasing
    from handrail.workspace.worktrees import remove as removal
else:
    committing = late_import("handrail.workspace.commits.commit")
    merging = late_import("handrail.workspace.commits.merge")
    unused_filters = late_import("handrail.workspace.commits.unused_filters")
    applying = late_import("handrail.workspace.delivery.apply")
    delivery = late_import("handrail.ports.delivery")
    journals = late_import("handrail.workspace.delivery.apply_journal")
    delivering = late_import("handrail.workspace.delivery.deliver")
    discarding = late_import("handrail.workspace.delivery.discard")
    janitor = late_import("handrail.workspace.delivery.janitor")
    pushing = late_import("handrail.workspace.delivery.push")
    remote_git = late_import("handrail.workspace.delivery.remote_git")
    changes = late_import("handrail.workspace.snapshots.changes")
    recorded_files = late_import("handrail.workspace.snapshots.recorded_files")
    restoring = late_import("handrail.workspace.snapshots.restore")
    watching = late_import("handrail.workspace.snapshots.watch")
    releasing = late_import("handrail.workspace.worktrees.release")
    removal = late_import("handrail.workspace.worktrees.remove")


class GitWorkspaces:
    """The port `Delivery`, with all our files in one data folder."""

    def __init__(self, folder: Path) -> None:
        self.places = DataLayout(folder.absolute())
        self._commits = Commits()
        self._watches = Watches()
        self._looks: dict[str, settings_record.QuietLook | None] = {}

    def prepare(self, source: Source) -> Tree:
        """Make the worktree of a run, or find the existing one."""
        return worktrees.prepare(self.places, source)

    def record_settings(self, tree: Tree) -> None:
        """Record what makes the user's git start programs, once a worktree is set up; an existing record stays."""
        settings_record.record_settings(self.places, tree)

    def note_step(self, tree: Tree) -> None:
        """Note that a step begins, after which somebody has to check the settings."""
        settings_record.note_step(self.places, tree)

    def look_at_settings(self, tree: Tree) -> tuple[str, ...]:
        """Return what of that has changed, after a step; quick where nothing was written."""
        # The first look is not remembered: many worktrees get only one.
        before = settings_record.remember_look(self.places, tree) if tree.path in self._looks else None
        changes = settings_record.look_at_settings(self.places, tree)
        while len(self._looks) >= MOST_WATCHED:
            self._looks.pop(next(iter(self._looks)), None)
        self._looks[tree.path] = None if before is None else replace(before, changes=changes)
        return changes

    def recall_settings(self, tree: Tree) -> tuple[str, ...] | None:
        """Return the same where it takes but a moment to know that nothing was written since the last look."""
        known = self._looks.get(tree.path)
        return None if known is None else known.repeat()

    def list_unused_filters(self, tree: Tree) -> tuple[str, ...]:
        """Describe the filters of the repository that are not run, so that their files cannot be committed."""
        if not settings_record.has_filters(self.places, tree):
            return ()
        return unused_filters.describe_unused(self.places.git(Path(tree.path)))

    def _require_ours(self, tree: Tree) -> None:
        """Refuse to change files of a worktree that claims to be owned and was not made here."""
        if tree.owned:
            records.require_ours(self.places, Path(tree.path))

    def is_there(self, tree: Tree) -> bool:
        """Whether a worktree can be used."""
        return worktrees.is_there(tree)

    def release(self, tree: Tree, run: str) -> bool:
        """Remove the worktree of a run if its files are those of the newest commit of its branch, which stays."""
        return releasing.release(self.places, tree, run)

    def released_commit(self, tree: Tree, files: str) -> str:
        """Give the newest commit of the branch of a worktree that is gone; a fault where it holds other files."""
        return releasing.released_commit(self.places, tree, files)

    def snapshot(self, tree: Tree, run: str, since: str = "") -> Snapshot:
        """Take a snapshot of the worktree, borrowed or owned; by the rules of a snapshot, where one is named."""
        unchanged = self._watches.recall(tree.path, run, since)
        if unchanged is not None:
            return unchanged
        path = Path(tree.path)
        with self.places.lock(path) as lock:
            private = PrivateIndex(self.places.git(path).with_locks(lock), self.places.private_folder(path))
            taken = take(private, tree, run, self._commits, since)
            if taken.id == since and self._watches.is_due(tree.path, run):
                self._watch(private, tree, taken, watching.read_moment(lock))
            return taken

    def recall_snapshot(self, tree: Tree, run: str, since: str) -> Snapshot | None:
        """Return the snapshot `since` where it takes but a moment to know that nothing changed."""
        return self._watches.recall(tree.path, run, since, FEW)

    def _watch(self, private: PrivateIndex, tree: Tree, taken: Snapshot, began: "watching.Moment") -> None:
        state = self._commits.state(taken.id)
        found = None if state is None else watching.watch_snapshot(private, tree, state, taken, began)
        if state is not None and found is not None:
            self._watches.remember(state.run, found)

    def restore(self, tree: Tree, run: str, snapshot: str) -> str:
        """Restore an owned worktree; return the ref that saves what was there before."""
        self._require_ours(tree)
        return restoring.restore(self.places, tree, run, snapshot)

    def commit(self, tree: Tree, message: str, paths: tuple[str, ...] | None = None) -> str:
        """Commit what changed on the run's branch and return the commit of HEAD."""
        self._require_ours(tree)
        return committing.commit(self.places, tree, message, paths)

    def commit_before_merge(self, tree: Tree, message: str) -> str:
        """Commit what changed unless a merge is under way already, and return the commit of HEAD."""
        self._require_ours(tree)
        return merging.commit_before(self.places, tree, message)

    def merge(self, tree: Tree, commit: str, message: str, *, markers: bool = False) -> MergeResult:
        """Merge a commit into the run's branch."""
        self._require_ours(tree)
        return merging.merge(self.places, tree, commit, message, markers=markers)

    def conclude(self, tree: Tree, message: str) -> MergeResult:
        """Commit a merge whose markers somebody resolved."""
        self._require_ours(tree)
        return merging.conclude(self.places, tree, message)

    def changes(self, tree: Tree, since: str, until: str | None = None) -> tuple[FileChange, ...]:
        """List what differs between two commits or snapshots; None means the current files."""
        return changes.changes(self.places, tree, since, until)

    def list_ignored_paths(self, tree: Tree, below: tuple[str, ...]) -> tuple[str, ...]:
        """List the current files below some paths that are skipped as ignored; a new cache is one entry."""
        return changes.list_ignored(self.places, tree, below)

    def record_files(self, tree: Tree, chosen: FileRange, known: str = "") -> str:
        """Record the files that are in no snapshot, and return the record's name; a known one that exists is reused."""
        return recorded_files.record(self.places, tree, chosen, known)

    def list_differing_files(self, tree: Tree, chosen: FileRange, record: str) -> tuple[str, ...]:
        """List such files that were added, changed or removed since a record."""
        return recorded_files.list_differing(self.places, tree, chosen, record)

    def readable_diff(self, tree: Tree, since: str, until: str) -> str:
        """Return the difference in a form for readers."""
        return changes.readable_diff(self.places, tree, since, until)

    def diff(self, tree: Tree, since: str, until: str | None = None, *, stat: bool = False) -> str:
        """Return the difference as a patch."""
        return changes.diff(self.places, tree, since, until, stat=stat)

    def remote(self, tree: Tree) -> str:
        """Return the remote to which the repository's branches are pushed; empty where there is none."""
        return repository_view.find_remote(Path(tree.repository), tree.base)

    def remote_url(self, tree: Tree, remote: str) -> str:
        """Return the address to which a remote is pushed; empty where there is no such remote."""
        return remote_git.find_remote_url(Path(tree.repository), remote)

    def push(self, tree: Tree, request: "PushRequest") -> "PushResult":
        """Push the run's branch, building upon what others pushed."""
        self._require_ours(tree)
        return pushing.push(self.places, tree, request)

    def throw_away(self, repository: Path, run: str) -> None:
        """Remove a worktree that was only made to try something, with its branch; nothing of it is saved."""
        removal.throw_away(self.places, repository, run)

    def worktree_path(self, repository: Path, run: str) -> Path:
        """Return the folder in which the worktree of a run is made."""
        root = find_root(repository)
        return self.places.worktrees(root, common_dir(root)) / safe_name(run)

    def snapshot_ref(self, run: str) -> str:
        """Return the ref of a run's newest snapshot."""
        return run_ref(run)

    def find_changed_settings(self, tree: Tree) -> tuple[str, ...]:
        """Return what makes the user's git start programs and has changed since the run was set up."""
        return settings_record.list_changed_settings(self.places, tree)

    def accept_settings(self, tree: Tree, files: Collection[str] | None = None) -> None:
        """Accept such changes: all of them, or the hooks among some files of the checkout."""
        settings_record.accept_settings(self.places, tree, files)

    def apply_to_checkout(self, tree: Tree, run: str) -> tuple[str, ...]:
        """Apply what a run changed to the user's checkout; return the files that changed there."""
        return applying.apply_to_checkout(self.places, tree, run).files

    def undo_apply(self, tree: Tree, run: str) -> tuple[str, ...]:
        """Undo the last application of a run; return the files that changed."""
        return applying.undo_apply(self.places, tree, run).files

    def find_last_applied(self, root: Path, runs: Iterable[str]) -> str | None:
        """Return the run, out of some, whose changes were applied to a checkout last."""
        known = {safe_name(run): run for run in runs}
        cut_off = next((each.run for each in self.list_unfinished_applies() if Path(each.checkout) == root), "")
        if cut_off in known.values():
            return cut_off
        return next((known[name] for name in applying.list_applied_runs(self.places.git(root)) if name in known), None)

    def list_unfinished_applies(self) -> "tuple[UnfinishedApply, ...]":
        """List the interrupted applications, which `apply` or `undo` of the same run finishes."""
        return tuple(
            delivery.UnfinishedApply(each.run, each.checkout, each.way == "undo")
            for each in journals.list_unfinished(self.places)
        )

    def merge_into_base(self, tree: Tree, message: str) -> MergeResult:
        """Merge the run's branch into its base; a clean checkout of the base is moved forward with it."""
        return delivering.merge_into_base(self.places, tree, message)

    def discard(self, tree: Tree, run: str) -> str:
        """Remove a run's worktree and branch; return the ref that preserves both."""
        return discarding.discard(self.places, tree, run)

    def require_discardable(self, tree: Tree, run: str) -> None:
        """Refuse what `discard` would refuse, without removing anything."""
        discarding.require_discardable(self.places, tree, run)

    def set_aside(self, tree: Tree, run: str) -> str:
        """Give up a worktree whose repository is gone; return the plain folder in which its files stay."""
        return discarding.set_files_aside(self.places, tree, run)

    def repositories_of(self, run: str) -> tuple[Path, ...]:
        """List the repositories in which a worktree was made under the name of a run."""
        return tuple(Path(record.repository) for record in records.list_records(self.places) if record.run == run)

    def survey_leftovers(
        self, life: "Callable[[str], Life]", repositories: Iterable[str], retention: "Retention"
    ) -> "tuple[Leftover, ...]":
        """List what runs left, in the repositories of all worktrees and in the given ones."""
        return janitor.survey(self.places, life, repositories, retention)

    def remove_leftover(self, leftover: "Leftover") -> tuple[str, ...]:
        """Remove something unless it has a reason to stay; return the refs that preserve its content."""
        return janitor.clean(self.places, [leftover])
