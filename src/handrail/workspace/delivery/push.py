"""Pushes a run's branch, and builds upon what others pushed to the same branch.

The branch of the remote is looked at first:

    it does not exist           it is created
    it has the commit already   nothing is left to do, also after a crash right after the push
    it is an ancestor           it is moved forward
    it is what we pushed last,  the run went back, or another run works under the same key: it is replaced with a lease
    and no ancestor             on that very commit if that is allowed, else kept by a merge commit with our files
    anything else               somebody pushed: their commits are fetched and merged into the run's branch

A merge after the run went back takes what we pushed last as the common base, so that the work that the run dropped
does not come back with the work of somebody else. What is to be pushed is noted before: if we are killed in between,
the next push knows that commit as ours, ends what is left of the one before, and looks at the remote for its outcome.
"""

import shlex
from pathlib import Path

from handrail.errors import PushRefused, WorkspaceFault
from handrail.frozen import frozen
from handrail.model.history.trees import Tree
from handrail.ports.delivery import PushConflict, Pushed, PushRequest, PushResult
from handrail.ports.workspaces import Conflict
from handrail.workspace.commits.commit import write_commit
from handrail.workspace.commits.merge import build_upon, merge_pair
from handrail.workspace.commits.merge_trees import is_ancestor
from handrail.workspace.delivery.push_journal import PushJournal
from handrail.workspace.delivery.remote_git import NAME, RemoteGit, connect, find_remote_url
from handrail.workspace.delivery.remote_process import end_orphan
from handrail.workspace.git.command import Git, GitResult
from handrail.workspace.git.data_places import DataLayout
from handrail.workspace.git.repositories import branches, common_dir, find_root
from handrail.workspace.snapshots.changes import require_true_objects

MAX_ROUNDS = 4
"""How often to look again when somebody else pushes at the same moment."""


@frozen
class _Push:
    """A push that is under way."""

    places: DataLayout
    tree: Tree
    request: PushRequest
    remote: RemoteGit
    git: Git
    journal: PushJournal

    @property
    def head(self) -> str:
        """The newest commit of the run's branch."""
        found = self.git.query("rev-parse", "--verify", "-q", f"refs/heads/{self.tree.branch}")
        if not found:
            message = f"there is no branch {self.tree.branch} in {self.tree.repository}"
            raise WorkspaceFault(message, next_step=f"see `git -C {shlex.quote(self.tree.repository)} branch`")
        return found


def push(places: DataLayout, tree: Tree, request: PushRequest) -> PushResult:
    """Push the run's branch."""
    root = find_root(Path(tree.repository))
    url = find_remote_url(root, request.remote)
    if not url:
        message = f"there is no remote '{request.remote}' in {tree.repository}"
        raise PushRefused(message, next_step=f"add it: git remote add {request.remote} ADDRESS")
    common = common_dir(root)
    with places.lock(common / "push" / request.branch) as lock:
        git = places.git(root).with_locks(lock)
        journal = PushJournal(places.private_folder(root), url, request.branch)
        end_orphan(journal.command)
        remote = connect(git, url, request, journal.command)
        try:
            return _push(_Push(places, tree, request, remote, git, journal))
        finally:
            journal.command.unlink(missing_ok=True)


def _push(at: _Push) -> PushResult:
    merged, refused = "", None
    for _ in range(MAX_ROUNDS):
        head, there = at.head, at.remote.find_branch(at.request.branch)
        if there == head:
            at.journal.note(head)
            return Pushed(commit=head, previous=there, how="unchanged", merged=merged)
        replaces = bool(there) and at.request.may_force and there in at.journal.ours and not _is_in(at, there, head)
        if there and not replaces and not _is_in(at, there, head):
            found = _build_upon(at, head, there)
            if found is not None:
                return found
            merged = "" if there in at.journal.ours else there
            continue
        require_true_objects(at.git, at.tree.commit, head)
        at.journal.note(there if there in at.journal.ours else "", head)
        ran = _send(at, head, there, replaces=replaces)
        if not ran.code:
            at.journal.note(head)
            how = "replaced" if replaces else "moved" if there else "created"
            return Pushed(commit=head, previous=there, how=how, merged=merged)
        refused = at.remote.explain(ran)
        if not _is_raced(ran):
            break
    if at.remote.find_branch(at.request.branch) == at.head:
        # The connection broke after the remote had accepted everything.
        at.journal.note(at.head)
        return Pushed(commit=at.head, merged=merged)
    raise refused or PushRefused(f"somebody else keeps pushing to {at.request.branch}", next_step="try again")


def _is_in(at: _Push, there: str, head: str) -> bool:
    """Whether the branch of the remote is contained in the run's branch."""
    return at.remote.has(there) and is_ancestor(at.git, there, head)


def _send(at: _Push, head: str, there: str, *, replaces: bool) -> GitResult:
    ref = f"refs/heads/{at.request.branch}"
    lease = (f"--force-with-lease={ref}:{there}",) if replaces else ()
    words = ("--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", *lease)
    return at.remote.run("push", *words, NAME, f"{head}:{ref}")


def _is_raced(ran: GitResult) -> bool:
    """Whether somebody else moved the branch of the remote at the same moment."""
    said = ran.out.decode(errors="replace") + ran.err
    signs = ("(fetch first)", "(non-fast-forward)", "(stale info)", "cannot lock ref", "(remote ref updated since")
    return any(sign in said for sign in signs)


def _build_upon(at: _Push, head: str, there: str) -> PushConflict | None:
    """Merge what is at the remote into the run's branch; a conflict changes nothing."""
    at.remote.fetch(there, at.request.branch)
    base = _find_own_base(at, head, there)
    if at.tree.owned and (Path(at.tree.path) / ".git").exists():
        found = build_upon(at.places, at.tree, there, at.request.message, base)
        if isinstance(found, Conflict):
            return PushConflict(files=found.files, commit=there, message=found.message)
        return None
    merged = merge_pair(at.git, head, there, base)
    if merged.files:
        return PushConflict(files=merged.files, commit=there, message=merged.message)
    _refuse_checked_out(at)
    new = write_commit(at.git, merged.tree, at.request.message, (head, there))
    at.git.out("update-ref", f"refs/heads/{at.tree.branch}", new, head)
    return None


def _find_own_base(at: _Push, head: str, there: str) -> str:
    """Return the commit of ours that others built upon and that the run's branch has dropped; usually there is none."""
    dropped = (each for each in at.journal.ours if at.remote.has(each) and not is_ancestor(at.git, each, head))
    return next((each for each in dropped if is_ancestor(at.git, each, there)), "")


def _refuse_checked_out(at: _Push) -> None:
    """Refuse to move a branch under the feet of whoever has it checked out."""
    known = next((each for each in branches(at.git, f"refs/heads/{at.tree.branch}")), None)
    if known is not None and known.worktree and Path(known.worktree).exists():
        where, branch = known.worktree, at.request.branch
        message = f"somebody else pushed to {branch}, and {at.tree.branch} is checked out in {where}"
        step = f"git -C {shlex.quote(where)} pull {at.request.remote} {branch}, then try again"
        raise PushRefused(message, next_step=step)
