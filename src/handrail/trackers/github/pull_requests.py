"""The pull requests of repositories on GitHub, behind the port `PullRequests`."""

from base64 import b64decode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import cast
from urllib.parse import quote

from handrail.model.issues import Marker, RepositoryRef
from handrail.model.pull_requests import PullRequest, PullRequestDraft, PullRequestRef, PullRequestState
from handrail.ports.pull_requests import PullRequestPage
from handrail.trackers.github.answers import read_login, read_mergeable, read_pull_request
from handrail.trackers.github.api.client import GitHubClient, Json, scopes_of
from handrail.trackers.github.api.connection import GitHubConnection
from handrail.trackers.github.api.queries import AUTO_MERGE, MARK_DRAFT, MARK_READY
from handrail.trackers.github.api.refusals import Refused, Unanswered
from handrail.trackers.github.checks import read_checks
from handrail.trackers.github.comments import read_comments
from handrail.trackers.github.marks import neutralize
from handrail.trackers.github.pulls import Pulls
from handrail.trackers.github.reviews import newest_reviews, read_discussion
from handrail.trackers.github.tracker import repository_path

TEMPLATES = ("pull_request_template.md", "pull_request_template.txt", "pull_request_template")
FOLDERS = (".github", "", "docs")
"""Where GitHub looks for a template, in this order."""


class GitHubPullRequests:
    """Implements the port `PullRequests`."""

    def __init__(self, connection: GitHubConnection) -> None:
        self._connection = connection

    async def me(self) -> str:
        """Return the login under which Handrail writes."""
        async with self._connection.open() as client:
            return await self._connection.me(client)

    async def find(self, repository: RepositoryRef, head: str, marker: Marker) -> PullRequest | None:
        """Find the newest pull request of a branch that we opened with this marker, whatever its status."""
        async with self._open(repository) as pulls:
            found = await pulls.find_marked(head, marker)
            return None if found is None else read_pull_request(found, repository)

    async def open(self, draft: PullRequestDraft, marker: Marker) -> PullRequest:
        """Open a pull request, or find the open one of this branch and bring it to the same state."""
        draft = await self._clean(draft)
        async with self._open(draft.repository) as pulls:
            return await pulls.open(draft, marker)

    async def update(self, ref: PullRequestRef, draft: PullRequestDraft) -> PullRequest:
        """Bring title, body, base, labels and reviewers to the wanted state; one ready for review stays ready."""
        draft = await self._clean(draft)
        async with self._open(ref.repository) as pulls:
            return await pulls.bring_to(await pulls.get(ref), draft, None, [])

    async def mark_ready(self, ref: PullRequestRef) -> None:
        """Turn a draft into a pull request that is ready for review."""
        await self._set_draft(ref, MARK_READY, draft=False)

    async def mark_draft(self, ref: PullRequestRef) -> None:
        """Turn a pull request that is ready for review into a draft again."""
        await self._set_draft(ref, MARK_DRAFT, draft=True)

    async def _set_draft(self, ref: PullRequestRef, mutation: str, *, draft: bool) -> None:
        async with self._open(ref.repository) as pulls:
            answer = await pulls.get(ref)
            if bool(answer.get("draft")) == draft:
                return
            try:
                await pulls.client.query(mutation, id=answer["node_id"])
            except Unanswered:
                if bool((await pulls.get(ref)).get("draft")) != draft:
                    await pulls.client.query(mutation, id=answer["node_id"])

    async def enable_auto_merge(self, ref: PullRequestRef) -> str:
        """Let the host merge it when its conditions hold; return why that is not possible, or an empty text."""
        async with self._open(ref.repository) as pulls:
            answer = await pulls.get(ref)
            if answer.get("auto_merge"):
                return ""
            try:
                await pulls.client.query(AUTO_MERGE, id=answer["node_id"])
            except Unanswered:
                return "" if (await pulls.get(ref)).get("auto_merge") else "GitHub did not answer"
            except Refused as error:
                return error.message
        return ""

    async def read(self, ref: PullRequestRef) -> PullRequestState:
        """Read a pull request with the checks, reviews and threads of its current head."""
        async with self._open(ref.repository) as pulls:
            client, answer = pulls.client, await pulls.get(ref)
            shown = read_pull_request(answer, ref.repository)
            if shown.status == "closed":
                shown = replace(shown, closed_by=await _find_closer(client, pulls.repository, ref))
            state = PullRequestState(
                pull_request=shown,
                mergeable=read_mergeable(answer),
                checks=await read_checks(client, pulls.repository, shown.head_commit),
                reviews=newest_reviews(await client.list(f"{pulls.repository}/pulls/{ref.number}/reviews")),
                comments=read_comments(await client.list(f"{pulls.repository}/issues/{ref.number}/comments")),
            )
            try:
                return await read_discussion(client, ref, state)
            except Refused:
                # Not every token may ask GraphQL; checks, reviews and comments are known without it.
                return state

    async def list_changed(self, repository: RepositoryRef, since: str) -> PullRequestPage:
        """List the pull requests of a repository that changed since an earlier look, with one call."""
        last, _, etag = since.partition(" ")
        async with self._connection.open() as client:
            path = f"{repository_path(repository)}/pulls?state=all&sort=updated&direction=desc&per_page=100"
            page = await client.list_unless(path, etag)
        if page.unchanged:
            return PullRequestPage((), since, unchanged=True)
        changed = [each for each in page.entries if str(each.get("updated_at") or "") >= last]
        newest = max([last, *(str(each.get("updated_at") or "") for each in page.entries)])
        found = tuple(read_pull_request(each, repository) for each in changed)
        return PullRequestPage(found, f"{newest} {page.etag}")

    async def template(self, repository: RepositoryRef) -> str:
        """Return the template for the text of a pull request; empty if the repository has none."""
        async with self._connection.open() as client:
            path = repository_path(repository)
            for folder in FOLDERS:
                answer = await client.find(f"{path}/contents/{folder}")
                entries = cast("list[Json]", answer) if isinstance(answer, list) else []
                for entry in entries:
                    if entry.get("type") == "file" and str(entry.get("name")).lower() in TEMPLATES:
                        return _decode(await client.find(f"{path}/contents/{quote(str(entry['path']))}"))
        return ""

    async def may_change_workflows(self, repository: RepositoryRef) -> bool | None:
        """Whether our token may push changes below `.github/workflows`; None if the host does not say."""
        async with self._connection.open() as client:
            if client.token.starts_no_checks(self._connection.environ):
                return False
            await client.get(repository_path(repository))
            scopes = scopes_of(client.headers)
            return None if scopes is None else "workflow" in scopes

    @asynccontextmanager
    async def _open(self, repository: RepositoryRef) -> AsyncGenerator[Pulls]:
        async with self._connection.open() as client:
            me = await self._connection.me(client)
            yield Pulls(client, repository_path(repository), repository.owner, me)

    async def _clean(self, draft: PullRequestDraft) -> PullRequestDraft:
        clean = self._connection.clean
        return replace(draft, title=neutralize(await clean(draft.title)), body=await clean(draft.body))


async def _find_closer(client: GitHubClient, repository: str, ref: PullRequestRef) -> str:
    """Return who closed a pull request, which GitHub says only of the issue that it also is."""
    answer: Json = await client.get(f"{repository}/issues/{ref.number}")
    return read_login(answer, "closed_by") if answer.get("closed_by") else ""


def _decode(answer: Json | None) -> str:
    if answer is None or answer.get("encoding") != "base64":
        return ""
    return b64decode(str(answer.get("content") or "")).decode("utf-8", "replace")
