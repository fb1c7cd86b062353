"""Opens or updates the pull request of a run: commits what is left, pushes the branch, and tells the host.

Every part may be repeated after a crash at any point, and finds what was done before: a commit with nothing to commit
changes nothing, a branch that the remote has already is not pushed again, and the pull request is looked up before one
is opened. What identifies it is the run that a person started and the name of the step, or the key that the step names:
a rewind and a second pass update the same one, and so does another run with the same key.

What only a person can decide is never forced: a pull request that somebody closed stays closed, a conflict with what
somebody pushed stays theirs to resolve, and a branch that is under review is never rewritten.
"""

import shlex
from typing import Literal, TypeAlias

from handrail.engine.fold.pull_requests import find_new_facts
from handrail.engine.text.host_text import clean_title
from handrail.errors import GitSettingsChanged, NoToken, WorkspaceFault
from handrail.frozen import frozen
from handrail.model.history.run_state import RunState
from handrail.model.history.trees import Tree
from handrail.model.issues import Marker, RepositoryRef
from handrail.model.pull_request_facts import (
    BecameReady,
    CommitsPushed,
    PullRequestFact,
    PullRequestOpened,
    PullRequestRecord,
    PullRequestReopened,
    PullRequestUpdated,
)
from handrail.model.pull_requests import PullRequest, PullRequestDraft, PullRequestState
from handrail.model.workflow.values import JsonValue
from handrail.ports.delivery import PushConflict, Pushed, PushRequest
from handrail.ports.environments import RunEnvironments
from handrail.ports.log import Log
from handrail.ports.pull_requests import PullRequests
from handrail.ports.trackers import TrackerCatalog
from handrail.ports.workspaces import Workspaces
from handrail.runtime.handlers.trackers.pull_request_text import (
    IssueLink,
    TextParts,
    collect_evidence,
    find_issue,
    join_template,
    write_body,
)
from handrail.runtime.handlers.trees import add_run_trailer, run_in_thread
from handrail.runtime.ports import Clock
from handrail.runtime.pull_request_log import read_record, record_facts

WORKFLOWS = ".github/workflows/"
TOKENS = ("GH_TOKEN", "GITHUB_TOKEN")
_SHOWN = 5


@frozen(kw_only=True)
class PullRequestWish:
    """A pull request as a step or a command wants it."""

    step: str
    title: str
    body: str = ""
    base: str = ""
    key: str = ""
    draft: bool = False
    ready: bool = False
    """Whether a draft is made ready for review."""
    auto_merge: bool = False
    """Whether the host merges it as soon as its checks and reviews allow that."""
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    finishes: bool = False
    """Whether the run has done everything that its issue asks for, so that merging closes the issue."""
    again: str = ""
    """The command that continues after a person has done something."""
    accepted: bool = False
    """Whether a person accepts changed settings of git."""


@frozen(kw_only=True)
class OpenedPullRequest:
    """The pull request is open, and has everything of the run's branch."""

    number: int
    url: str
    branch: str
    commit: str
    draft: bool
    state: Literal["open", "merged", "closed"]
    created: bool
    notes: tuple[str, ...] = ()
    """What could not be done with it."""


@frozen(kw_only=True)
class LeftToPerson:
    """The branch is ready, and a person pushes it: there is no code host here that Handrail can call."""

    branch: str
    commit: str
    command: str
    summary: str


@frozen(kw_only=True)
class NeedsPerson:
    """Nothing goes on before a person has decided something; nothing is lost."""

    message: str
    next_step: str
    reason: Literal["step", "merge"] = "step"


PullRequestOutcome: TypeAlias = OpenedPullRequest | LeftToPerson | NeedsPerson


@frozen
class _Place:
    """Where a pull request is opened."""

    host: PullRequests
    repository: RepositoryRef
    remote: str
    branch: str
    """The branch of the remote."""
    base: str
    marker: Marker
    commit: str
    """The newest commit of the run's branch."""


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
        if repository is None or tree.branch == base:
            return self._leave_to_person(state.run, tree, wish, remote, commit)
        head = branch_of(tree, state.run, wish.key)
        key = wish.key or f"{state.family}/{wish.step}"
        marker = Marker(what="pull-request", key=key)
        try:
            host = self.catalog.pull_requests(repository, state.run)
            place = _Place(host, repository, remote, head, base, marker, commit)
            return await self._deliver_to(state, tree, wish, place)
        except NoToken as missing:
            left = self._leave_to_person(state.run, tree, wish, remote, commit)
            return _explain(left, missing.message)

    def _commit(self, run: str, tree: Tree, wish: PullRequestWish) -> str:
        if tree.owned and self.workspaces.is_there(tree):
            return self.workspaces.commit(tree, add_run_trailer(wish.title, run, wish.step))
        return ""

    async def _deliver_to(
        self, state: RunState, tree: Tree, wish: PullRequestWish, place: _Place
    ) -> PullRequestOutcome:
        found = await place.host.find(place.repository, place.branch, place.marker)
        refusal = await self._refuse_closed(state, place, found, wish)
        refusal = refusal or await self._refuse_workflows(tree, wish, place)
        if refusal is not None:
            return refusal
        await run_in_thread(self._require_known_settings, state, tree, wish)
        pushed = await run_in_thread(self._push, state, tree, place, found)
        if isinstance(pushed, PushConflict):
            return _describe_conflict(pushed, tree, place, wish)
        existing = found if found is not None and found.status == "open" else None
        return await self._open_or_update(state, wish, place, pushed, existing)

    async def _refuse_closed(
        self, state: RunState, place: _Place, found: PullRequest | None, wish: PullRequestWish
    ) -> NeedsPerson | None:
        """Leave a pull request closed that somebody closed: neither is it opened again, nor another one opened."""
        if found is None or found.status != "closed":
            return None
        shown = await place.host.read(found.ref)
        redactor, now = self.environments.environment_of(state.run).redactor, self.clock()
        await record_facts(self.log, found.ref.stream, lambda known: _find_news(known, shown, now), redactor)
        by = f" by {shown.pull_request.closed_by}" if shown.pull_request.closed_by else ""
        return NeedsPerson(
            message=f"pull request #{found.ref.number} was closed{by} without being merged: {found.url}",
            next_step=f"reopen it there if it is wanted, then: {wish.again}",
        )

    async def _refuse_workflows(self, tree: Tree, wish: PullRequestWish, place: _Place) -> NeedsPerson | None:
        """Find out before pushing whether the host would refuse a change of its workflows."""
        changes = await run_in_thread(self.workspaces.changes, tree, tree.commit, place.commit or tree.branch)
        files = [name for each in changes for name in (each.path, each.old) if name.startswith(WORKFLOWS)]
        if not files or await place.host.may_change_workflows(place.repository) is not False:
            return None
        listed = ", ".join(files[:_SHOWN]) + (f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else "")
        where = shlex.quote(tree.repository)
        push = f"git -C {where} push {place.remote} {tree.branch}:{place.branch}"
        return NeedsPerson(
            message=f"{tree.branch} changes {listed}, and the token may not push changes of {WORKFLOWS}",
            next_step=f"give it the permission (gh auth refresh --scopes workflow), or push it yourself: {push}; "
            f"then: {wish.again}",
        )

    def _require_known_settings(self, state: RunState, tree: Tree, wish: PullRequestWish) -> None:
        changes = () if wish.accepted else self.workspaces.find_changed_settings(tree)
        if changes:
            message = (
                "settings of the repository that make git start programs have changed since the run was set up: "
                + "; ".join(changes[:_SHOWN])
            )
            accept = f"handrail pr {state.run} --accept-git-changes"
            step = f"check them in {tree.repository} and undo them, or accept them: {accept}; then: {wish.again}"
            raise GitSettingsChanged(message, next_step=step, changes=changes)

    def _push(self, state: RunState, tree: Tree, place: _Place, found: PullRequest | None) -> Pushed | PushConflict:
        environment = self.environments.environment_of(state.run)
        secrets = environment.secrets
        request = PushRequest(
            branch=place.branch,
            remote=place.remote,
            message=add_run_trailer(f"Merge {place.branch} of {place.remote}", state.run),
            # Comments of reviewers are anchored at commits: what is under review is not rewritten.
            may_force=found is None or found.draft or found.status != "open",
            token=next((secrets[name] for name in TOKENS if secrets.get(name)), ""),
            variables=environment.variables(state.pass_env),
        )
        try:
            return self.workspaces.push(tree, request)
        except WorkspaceFault as fault:
            # Secrets never get into an address that we write, but a person may have put one into theirs.
            fault.message = environment.redactor.text(fault.message)
            raise

    async def _open_or_update(
        self, state: RunState, wish: PullRequestWish, place: _Place, pushed: Pushed, existing: PullRequest | None
    ) -> OpenedPullRequest:
        redactor = self.environments.environment_of(state.run).redactor
        record = PullRequestRecord() if existing is None else read_record(self.log, existing.ref.stream)
        issue = find_issue(state)
        draft = await self._draft(state, wish, place, existing, record)
        if existing is None:
            shown = await place.host.open(draft, place.marker)
        else:
            shown = await place.host.update(existing.ref, draft)
        if wish.ready and shown.draft:
            await place.host.mark_ready(shown.ref)
        refused = await place.host.enable_auto_merge(shown.ref) if wish.auto_merge else ""
        context = _Context(state, wish, place, pushed, shown, _closes(issue, wish, place.repository), self.clock)
        await record_facts(self.log, shown.ref.stream, context.find_facts, redactor)
        return OpenedPullRequest(
            number=shown.ref.number,
            url=shown.url,
            branch=place.branch,
            commit=pushed.commit,
            draft=shown.draft and not wish.ready,
            state=shown.status,
            created=existing is None,
            notes=(*shown.remarks, *((f"it is not merged automatically: {refused}",) if refused else ())),
        )

    async def _draft(
        self,
        state: RunState,
        wish: PullRequestWish,
        place: _Place,
        existing: PullRequest | None,
        record: PullRequestRecord,
    ) -> PullRequestDraft:
        redactor = self.environments.environment_of(state.run).redactor
        issue, title = find_issue(state), clean_title(redactor.text(wish.title))
        closes = _closes(issue, wish, place.repository)
        refers = "" if issue is None else issue.refer_from(place.repository)
        task = state.task or str(state.inputs.get("task") or "")
        evidence = collect_evidence(self.log, state)
        parts = TextParts(
            text=wish.body or _last_words(state),
            issue=issue,
            task=task,
            closes=refers if closes else "",
            refers=refers,
            evidence=evidence,
        )
        before = "" if existing is None else existing.body
        template = await place.host.template(place.repository) if not before else ""
        # A title that a person changed stays until ours changes too.
        kept = existing is not None and record.title == title and existing.title
        return PullRequestDraft(
            repository=place.repository,
            head=place.branch,
            base=place.base,
            title=existing.title if existing is not None and kept else title,
            body=join_template(redactor.text(write_body(parts)), template, before),
            draft=wish.draft,
            labels=wish.labels,
            reviewers=wish.reviewers,
        )

    def _leave_to_person(self, run: str, tree: Tree, wish: PullRequestWish, remote: str, commit: str) -> LeftToPerson:
        base = wish.base or tree.base
        if tree.branch == base:
            said = f"the work is on {base} itself, so there is nothing to open a pull request from"
            return LeftToPerson(branch=tree.branch, commit=commit, command="", summary=said)
        if not remote:
            merge = f"handrail merge {run}"
            why = f"there is no remote to push it to; to merge it into {base}: {merge}"
            said = f"branch {tree.branch} is ready, not pushed; {why}"
            return LeftToPerson(branch=tree.branch, commit=commit, command=merge, summary=said)
        where = tree.path if tree.owned and self.workspaces.is_there(tree) else tree.repository
        push = shlex.join(["git", "-C", where, "push", "-u", remote, tree.branch])
        said = f"branch {tree.branch} is ready, not pushed; push it, then open a pull request into {base}: {push}"
        return LeftToPerson(branch=tree.branch, commit=commit, command=push, summary=said)


@frozen
class _Context:
    """What was done with a pull request, from which its new facts follow."""

    state: RunState
    wish: PullRequestWish
    place: _Place
    pushed: Pushed
    shown: PullRequest
    closes: tuple[str, ...]
    clock: Clock

    def find_facts(self, record: PullRequestRecord) -> tuple[PullRequestFact, ...]:
        """Return what is not recorded yet."""
        now = self.clock()
        if not record.seq:
            return (self._opened(now),)
        facts: list[PullRequestFact] = []
        if record.status != "open" and self.shown.status == "open":
            facts.append(PullRequestReopened(at=now))
        if record.pushed != self.pushed.commit:
            pushed = self.pushed
            facts.append(
                CommitsPushed(run=self.state.run, commit=pushed.commit, how=pushed.how, merged=pushed.merged, at=now)
            )
        told = (self.state.run, self.shown.title, self.shown.base, self.closes)
        if (record.run, record.title, record.base, record.closes) != told:
            run, title, base, closes = told
            facts.append(PullRequestUpdated(run=run, title=title, base=base, closes=closes, at=now))
        if record.draft and (self.wish.ready or not self.shown.draft):
            facts.append(BecameReady(at=now))
        return tuple(facts)

    def _opened(self, now: float) -> PullRequestOpened:
        tree = self.state.tree
        return PullRequestOpened(
            run=self.state.run,
            root=self.state.family,
            step=self.wish.step,
            key=self.place.marker.key,
            url=self.shown.url,
            title=self.shown.title,
            head=self.place.branch,
            base=self.shown.base,
            commit=self.pushed.commit,
            draft=self.shown.draft and not self.wish.ready,
            repository="" if tree is None else tree.repository,
            closes=self.closes,
            at=now,
        )


def _find_news(known: PullRequestRecord, shown: PullRequestState, now: float) -> tuple[PullRequestFact, ...]:
    """Return what is new about a pull request that is recorded at all."""
    return find_new_facts(known, shown, now) if known.seq else ()


def branch_of(tree: Tree, run: str, key: str) -> str:
    """Return the branch of the remote: that of the run, or the stable one of a key."""
    if not key:
        return tree.branch
    name = "".join(sign if sign.isalnum() or sign in "-_." else "-" for sign in key).strip("-.") or "key"
    return tree.branch.replace(run, name) if run in tree.branch else f"handrail/{name}"


def _closes(issue: IssueLink | None, wish: PullRequestWish, repository: RepositoryRef) -> tuple[str, ...]:
    """Return the issue that merging closes: one of the same repository, if the run has done all that it asks for."""
    if issue is None or not wish.finishes or issue.place != str(repository) or not issue.number:
        return ()
    return (f"{issue.place}#{issue.number}",)


def _describe_conflict(found: PushConflict, tree: Tree, place: _Place, wish: PullRequestWish) -> NeedsPerson:
    files = ", ".join(found.files[:_SHOWN]) or found.message
    where = shlex.quote(tree.path if tree.owned else tree.repository)
    return NeedsPerson(
        message=f"somebody pushed {found.commit[:12]} to {place.branch}, and it conflicts with the run in {files}",
        next_step=f"resolve it: git -C {where} merge {found.commit[:12]}, commit it, then: {wish.again}",
        reason="merge",
    )


def _last_words(state: RunState) -> str:
    """Return what the last agent said about its work, where nobody wrote a text."""
    said = [step for step in state.steps.values() if step.agent and step.summary]
    return max(said, key=lambda step: step.began).summary if said else ""


def _explain(left: LeftToPerson, why: str) -> LeftToPerson:
    return LeftToPerson(branch=left.branch, commit=left.commit, command=left.command, summary=f"{left.summary} ({why})")


def describe_outcome(outcome: OpenedPullRequest | LeftToPerson) -> dict[str, JsonValue]:
    """Return the result of a step as later steps see it."""
    if isinstance(outcome, LeftToPerson):
        rest: dict[str, JsonValue] = {"number": 0, "url": "", "draft": False, "state": "", "command": outcome.command}
        return {**rest, "branch": outcome.branch, "commit": outcome.commit}
    names = ("number", "url", "branch", "commit", "draft", "state")
    return {**{name: getattr(outcome, name) for name in names}, "command": ""}


def summarize_outcome(found: OpenedPullRequest | LeftToPerson) -> str:
    """Describe in one line what became of a pull request."""
    if isinstance(found, LeftToPerson):
        return found.summary
    what = "opened" if found.created else "updated"
    kind = "draft pull request" if found.draft else "pull request"
    notes = "".join(f"; {each}" for each in found.notes)
    return f"{what} {kind} #{found.number}: {found.url}{notes}"
