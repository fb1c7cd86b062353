"""Opens or updates the pull request of a run: commits what is left, pushes the branch, and tells the host.

Every part may be repeated after a crash at any point, and finds what was done before: a commit with nothing to commit
changes nothing, a branch that the remote has already is not pushed again, and the pull request is looked up before one
is opened. What identifies it is the run that a person started and the name of the step, or the key that the step names:
a rewind and a second pass update the same one, and so does another run with the same key.

What only a person can decide is never forced: a pull request that somebody closed stays closed, a conflict with what
somebody pushed stays theirs to resolve, and a branch that is under review is never rewritten.
"""

from dataclasses import replace

from handrail.errors import NoToken, WorkspaceFault
from handrail.frozen import frozen
from handrail.model.history.run_state import RunState
from handrail.model.history.trees import Tree
from handrail.model.issues import Marker
from handrail.model.pull_requests import PullRequest
from handrail.ports.delivery import PushConflict, Pushed, PushRequest
from handrail.ports.environments import RunEnvironments
from handrail.ports.log import Log
from handrail.ports.trackers import TrackerCatalog
from handrail.ports.workspaces import Workspaces
from handrail.runtime.handlers.trackers.pull_request_draft import DraftWriter, find_closed_issues
from handrail.runtime.handlers.trackers.pull_request_news import DoneWork, find_news
from handrail.runtime.handlers.trackers.pull_request_outcome import (
    LeftToPerson,
    NeedsPerson,
    OpenedPullRequest,
    PullRequestOutcome,
    PullRequestWish,
)
from handrail.runtime.handlers.trackers.pull_request_place import Place, branch_of
from handrail.runtime.handlers.trackers.pull_request_refusals import (
    WORKFLOWS,
    describe_changed_settings,
    describe_closed,
    describe_conflict,
    describe_unpushed,
    describe_workflow_changes,
)
from handrail.runtime.handlers.trackers.pull_request_text import MAX_TEXT
from handrail.runtime.handlers.trees import add_run_trailer, run_in_thread
from handrail.runtime.ports import Clock
from handrail.runtime.pull_request_log import record_facts


@frozen
class PullRequestOpener:
    """Opens and updates pull requests."""

    log: Log
    workspaces: Workspaces
    environments: RunEnvironments
    catalog: TrackerCatalog
    clock: Clock

    async def deliver(self, state: RunState, tree: Tree, wish: PullRequestWish) -> PullRequestOutcome:
        """Bring the pull request of a run to the wanted state."""
        commit = await run_in_thread(self._commit, state.run, tree, wish)
        remote = await run_in_thread(self.workspaces.remote, tree)
        url = await run_in_thread(self.workspaces.remote_url, tree, remote) if remote else ""
        repository = self.catalog.repository_of(url, state.run) if url else None
        base = wish.base or tree.base
        left = self._leave_to_person(state.run, tree, base, remote, commit)
        if repository is None or tree.branch == base:
            return left
        head = branch_of(tree, state.run, wish.key)
        marker = Marker(what="pull-request", key=wish.key or f"{state.family}/{wish.step}")
        try:
            host = self.catalog.pull_requests(repository, state.run)
            place = Place(host, repository, remote, head, base, marker, commit)
            return await self._deliver_to(state, tree, wish, place)
        except NoToken as missing:
            return replace(left, summary=f"{left.summary} ({missing.message})")

    def _commit(self, run: str, tree: Tree, wish: PullRequestWish) -> str:
        if tree.owned and self.workspaces.is_there(tree):
            return self.workspaces.commit(tree, add_run_trailer(wish.title, run, wish.step))
        return ""

    def _leave_to_person(self, run: str, tree: Tree, base: str, remote: str, commit: str) -> LeftToPerson:
        where = tree.path if tree.owned and self.workspaces.is_there(tree) else tree.repository
        return replace(describe_unpushed(run, tree, base, remote, where), commit=commit)

    async def _deliver_to(self, state: RunState, tree: Tree, wish: PullRequestWish, place: Place) -> PullRequestOutcome:
        found = await place.host.find(place.repository, place.branch, place.marker)
        refusal = await self._refuse_closed(state, place, found, wish)
        refusal = refusal or await self._refuse_workflows(tree, wish, place)
        if refusal is not None:
            return refusal
        await run_in_thread(self._require_known_settings, state, tree, wish)
        pushed = await run_in_thread(self._push, state, tree, place, found)
        if isinstance(pushed, PushConflict):
            return describe_conflict(pushed, tree, place, wish)
        existing = found if found is not None and found.status == "open" else None
        return await self._open_or_update(state, wish, place, pushed, existing)

    async def _refuse_closed(
        self, state: RunState, place: Place, found: PullRequest | None, wish: PullRequestWish
    ) -> NeedsPerson | None:
        if found is None or found.status != "closed":
            return None
        shown = await place.host.read(found.ref)
        redactor, now = self.environments.environment_of(state.run).redactor, self.clock()
        await record_facts(self.log, found.ref.stream, lambda known: find_news(known, shown, now), redactor)
        return describe_closed(shown.pull_request, wish)

    async def _refuse_workflows(self, tree: Tree, wish: PullRequestWish, place: Place) -> NeedsPerson | None:
        """Find out before pushing whether the host would refuse a change of its workflows."""
        changes = await run_in_thread(self.workspaces.changes, tree, tree.commit, place.commit or tree.branch)
        files = [name for each in changes for name in (each.path, each.old) if name.startswith(WORKFLOWS)]
        if not files or await place.host.may_change_workflows(place.repository) is not False:
            return None
        return describe_workflow_changes(files, tree, place, wish)

    def _require_known_settings(self, state: RunState, tree: Tree, wish: PullRequestWish) -> None:
        changes = () if wish.accepted else self.workspaces.find_changed_settings(tree)
        if changes:
            raise describe_changed_settings(state.run, tree, tuple(changes), wish.again)

    def _push(self, state: RunState, tree: Tree, place: Place, found: PullRequest | None) -> Pushed | PushConflict:
        token = self.catalog.token_for(place.repository, state.run)
        environment = self.environments.environment_of(state.run)
        request = PushRequest(
            branch=place.branch,
            remote=place.remote,
            message=add_run_trailer(f"Merge {place.branch} of {place.remote}", state.run),
            # Comments of reviewers are anchored at commits: what is under review is not rewritten.
            may_force=found is None or found.draft or found.status != "open",
            token=token,
            variables=environment.variables(state.pass_env),
        )
        try:
            return self.workspaces.push(tree, request)
        except WorkspaceFault as fault:
            # Secrets never get into an address that we write, but a person may have put one into theirs.
            fault.message = environment.redactor.text(fault.message)
            raise

    async def _open_or_update(
        self, state: RunState, wish: PullRequestWish, place: Place, pushed: Pushed, existing: PullRequest | None
    ) -> OpenedPullRequest:
        redactor = self.environments.environment_of(state.run).redactor
        draft = await DraftWriter(self.log, redactor).write(state, wish, place, existing)
        if existing is None:
            shown = await place.host.open(draft, place.marker)
        else:
            shown = await place.host.update(existing.ref, draft)
        shown, notes = await _bring_to_review(place, shown, wish)
        done = DoneWork(
            state=state,
            step=wish.step,
            place=place,
            pushed=pushed,
            shown=shown,
            closes=find_closed_issues(state, wish, place.repository),
            text=redactor.text(wish.body[:MAX_TEXT]) if wish.by_person else "",
            now=self.clock(),
        )
        await record_facts(self.log, shown.ref.stream, done.find_facts, redactor)
        return OpenedPullRequest(
            number=shown.ref.number,
            url=shown.url,
            branch=place.branch,
            commit=pushed.commit,
            draft=shown.draft,
            state=shown.status,
            created=existing is None,
            notes=(*shown.remarks, *notes),
        )


async def _bring_to_review(
    place: Place, shown: PullRequest, wish: PullRequestWish
) -> tuple[PullRequest, tuple[str, ...]]:
    """Make a draft ready, or the other way round, and let the host merge it; with what could not be done."""
    if wish.ready and shown.draft:
        await place.host.mark_ready(shown.ref)
        shown = replace(shown, draft=False)
    elif wish.back_to_draft and not shown.draft and shown.status == "open":
        await place.host.mark_draft(shown.ref)
        shown = replace(shown, draft=True)
    refused = await place.host.enable_auto_merge(shown.ref) if wish.auto_merge else ""
    return shown, (f"it is not merged automatically: {refused}",) if refused else ()
