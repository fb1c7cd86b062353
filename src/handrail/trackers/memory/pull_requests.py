"""The pull requests of a code host in memory."""

import re
from dataclasses import replace

from handrail.errors import TrackerFault
from handrail.model.issues import IssueRef, Marker, RepositoryRef
from handrail.model.pull_requests import PullRequest, PullRequestDraft, PullRequestRef, PullRequestState
from handrail.ports.pull_requests import PullRequestPage
from handrail.trackers.memory.service import OURS, MemoryService, StoredPullRequest

_CLOSING = re.compile(r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+(?P<place>[\w.-]+/[\w.-]+)?#(?P<id>\d+)", re.I)


class MemoryPullRequests:
    """The pull requests of a service in memory, seen by one login."""

    def __init__(self, service: MemoryService, login: str = OURS) -> None:
        self._service = service
        self._login = login

    async def me(self) -> str:
        """Return the login under which Handrail writes."""
        async with self._service.call("pr.me"):
            return self._login

    async def find(self, repository: RepositoryRef, head: str, marker: Marker) -> PullRequest | None:
        """Find the newest pull request of a branch that we opened with this marker, whatever its status."""
        async with self._service.call("pr.find"):
            for stored in reversed(self._of_branch(repository, head)):
                mark, author = stored.marker, stored.state.pull_request.author
                if mark is not None and (mark.what, mark.key, author) == (marker.what, marker.key, self._login):
                    return self._current(stored).pull_request
            return None

    async def open(self, draft: PullRequestDraft, marker: Marker) -> PullRequest:
        """Open a pull request, or find the open one of this branch and bring it to the same state."""
        async with self._service.call("pr.open"):
            for stored in self._of_branch(draft.repository, draft.head):
                if stored.state.pull_request.status == "open":
                    self._bring_to(stored, draft)
                    stored.marker = marker
                    return self._current(stored).pull_request
            return self._create(draft, marker)

    async def update(self, ref: PullRequestRef, draft: PullRequestDraft) -> PullRequest:
        """Bring title, body, base, labels and reviewers to the wanted state; one ready for review stays ready."""
        async with self._service.call("pr.update"):
            stored = self._service.pull_request(ref)
            self._bring_to(stored, draft)
            return self._current(stored).pull_request

    async def mark_ready(self, ref: PullRequestRef) -> None:
        """Turn a draft into a pull request that is ready for review."""
        async with self._service.call("pr.mark_ready"):
            stored = self._service.pull_request(ref)
            if stored.state.pull_request.draft:
                self._service.change_pull_request(ref, draft=False)

    async def mark_draft(self, ref: PullRequestRef) -> None:
        """Turn a pull request that is ready for review into a draft again."""
        async with self._service.call("pr.mark_draft"):
            stored = self._service.pull_request(ref)
            if not stored.state.pull_request.draft:
                self._service.change_pull_request(ref, draft=True)

    async def enable_auto_merge(self, ref: PullRequestRef) -> str:
        """Let the host merge it when its conditions hold; return why that is not possible."""
        async with self._service.call("pr.enable_auto_merge"):
            stored = self._service.pull_request(ref)
            stored.auto_merge = not self._service.auto_merge_refusal
            return self._service.auto_merge_refusal

    async def read(self, ref: PullRequestRef) -> PullRequestState:
        """Read a pull request with the checks, reviews and threads of its current head."""
        async with self._service.call("pr.read"):
            return self._current(self._service.pull_request(ref))

    async def list_changed(self, repository: RepositoryRef, since: str) -> PullRequestPage:
        """List the pull requests of a repository that changed since an earlier look."""
        async with self._service.call("pr.list_changed"):
            mine = [stored for ref, stored in self._service.pull_requests.items() if ref.repository == repository]
            shown = [self._current(stored).pull_request for stored in mine]
            last = int(since or 0)
            news = [each for each, stored in zip(shown, mine, strict=True) if stored.changed > last]
            newest = max([last, *(stored.changed for stored in mine)])
            return PullRequestPage(tuple(news), str(newest), unchanged=not news)

    async def template(self, repository: RepositoryRef) -> str:
        """Return the template for the text of a pull request."""
        async with self._service.call("pr.template"):
            return self._service.templates.get(str(repository), "")

    async def may_change_workflows(self, repository: RepositoryRef) -> bool | None:  # noqa: ARG002 -- one for all
        """Whether our token may push changes below `.github/workflows`."""
        async with self._service.call("pr.may_change_workflows"):
            return self._service.workflow_permission

    def _of_branch(self, repository: RepositoryRef, head: str) -> list[StoredPullRequest]:
        found = [stored for ref, stored in self._service.pull_requests.items() if ref.repository == repository]
        return [stored for stored in found if stored.state.pull_request.head == head]

    def _create(self, draft: PullRequestDraft, marker: Marker) -> PullRequest:
        commit = self._service.head_of(draft.repository, draft.head)
        if not commit:
            message = f"The branch {draft.head} does not exist in {draft.repository}."
            raise TrackerFault(message)
        place = str(draft.repository)
        ref = PullRequestRef(draft.repository, self._service.next_number(place))
        pull_request = PullRequest(
            ref=ref,
            status="open",
            title=draft.title,
            body=draft.body,
            head=draft.head,
            head_commit=commit,
            base=draft.base,
            url=f"https://{place}/pull/{ref.number}",
            author=self._login,
            draft=draft.draft,
            node=f"PR_{ref.number}",
            updated_at=self._service.clock(),
        )
        stored = StoredPullRequest(PullRequestState(pull_request=pull_request), marker, draft.labels, draft.reviewers)
        stored.changed = self._service.tick()
        self._service.pull_requests[ref] = stored
        return pull_request

    def _bring_to(self, stored: StoredPullRequest, draft: PullRequestDraft) -> None:
        shown = stored.state.pull_request
        stored.labels = tuple(dict.fromkeys((*stored.labels, *draft.labels)))
        stored.reviewers = tuple(dict.fromkeys((*stored.reviewers, *draft.reviewers)))
        self._service.change_pull_request(shown.ref, title=draft.title, body=draft.body, base=draft.base)

    def _current(self, stored: StoredPullRequest) -> PullRequestState:
        """Return the state at the head that is pushed now: what was said about an older one is gone."""
        shown = stored.state.pull_request
        if shown.status == "open":
            commit = self._service.head_of(shown.ref.repository, shown.head) or shown.head_commit
            if commit != shown.head_commit:
                self._service.change_pull_request(shown.ref, head_commit=commit)
        shown = stored.state.pull_request
        checks = stored.checks.get(shown.head_commit, ())
        return replace(stored.state, checks=checks, closes=find_closed_issues(shown))


def find_closed_issues(pull_request: PullRequest) -> tuple[IssueRef, ...]:
    """Return the issues that the text of a pull request closes when it is merged, by the host's keywords."""
    repository = pull_request.ref.repository
    found = (
        IssueRef(f"{repository.host}/{match['place'] or repository.full_name}", match["id"])
        for match in _CLOSING.finditer(pull_request.body)
    )
    return tuple(dict.fromkeys(found))
