"""The issues of a repository on GitHub, behind the port `Tracker`."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from handrail.errors import NotFound
from handrail.model.issues import (
    Attachment,
    Claim,
    ClaimResult,
    Issue,
    IssueChange,
    IssueDraft,
    IssueFilter,
    IssueRef,
    Marker,
    RepositoryRef,
    TrackerKind,
)
from handrail.ports.trackers import CommentPage
from handrail.trackers.github import claims as claim_comments
from handrail.trackers.github import comments, issues, readiness
from handrail.trackers.github.answers import inner
from handrail.trackers.github.api.client import GitHubClient, Json
from handrail.trackers.github.api.connection import GitHubConnection
from handrail.trackers.github.attachments import Downloads
from handrail.trackers.github.dependencies import refuse_kind

_MAY_WRITE = ("admin", "maintain", "write")


class GitHubTracker:
    """Implements the port `Tracker` for one repository."""

    def __init__(self, connection: GitHubConnection, repository: RepositoryRef) -> None:
        self._connection = connection
        self._repository = repository
        self._path = repository_path(repository)

    @property
    def kind(self) -> TrackerKind:
        """Which tracker it is."""
        return "github"

    async def me(self) -> str:
        """Return the login under which Handrail writes."""
        async with self._connection.open() as client:
            return await self._connection.me(client)

    async def read(self, ref: IssueRef) -> Issue:
        """Read an issue with its comments, attachments, dependencies and parent; `NotFound` if there is none."""
        async with self._connection.open() as client:
            return await issues.read_whole_issue(client, self._path, self._number(ref), str(self._repository))

    async def find(self, wanted: IssueFilter) -> tuple[Issue, ...]:
        """List issues, without comments and attachments."""
        async with self._connection.open() as client:
            return await issues.list_issues(client, self._path, wanted, str(self._repository))

    async def list_ready(self, limit: int) -> tuple[Issue, ...]:
        """List the issues that can be worked on now, the most urgent first."""
        async with self._open_claims("0") as context:
            return await readiness.list_ready(context, str(self._repository), limit)

    async def create(self, draft: IssueDraft, marker: Marker) -> IssueRef:
        """Create an issue, or find the one that was created with this marker."""
        clean = self._connection.clean
        draft = replace(draft, title=await clean(draft.title), body=await clean(draft.body))
        async with self._connection.open() as client:
            me = await self._connection.me(client)
            number = await issues.create_issue(client, self._path, me, draft, marker)
            return IssueRef(str(self._repository), number)

    async def change(self, ref: IssueRef, change: IssueChange) -> None:
        """Change an issue; what is already so stays."""
        title = None if change.title is None else await self._connection.clean(change.title)
        body = None if change.body is None else await self._connection.clean(change.body)
        async with self._connection.open() as client:
            change = replace(change, title=title, body=body)
            await issues.change_issue(client, self._path, self._number(ref), change)

    async def add_dependency(self, ref: IssueRef, on: IssueRef, kind: str = "blocks") -> None:
        """Let an issue depend on another of the same repository."""
        if on.place != ref.place:
            raise refuse_kind(f"{kind} on {on}")
        async with self._connection.open() as client:
            await issues.add_relation(client, self._path, self._number(ref), on.id, kind)

    async def put_comment(self, ref: IssueRef, text: str, marker: Marker) -> str:
        """Write the comment of a marker, in place if there is one already, and return its id."""
        text = await self._connection.clean(text)
        async with self._connection.open() as client:
            me = await self._connection.me(client)
            return await comments.put_comment(client, f"{self._path}/issues/{self._number(ref)}", me, text, marker)

    async def comments_since(self, looks: Mapping[IssueRef, str]) -> Mapping[IssueRef, CommentPage]:
        """List the comments on each issue since an earlier look at it, oldest first; an empty look means all."""
        numbers = {self._number(ref): look for ref, look in looks.items()}
        async with self._connection.open() as client:
            found = await comments.comments_since(client, self._path, numbers)
        return {ref: found[ref.id] for ref in looks}

    async def may_decide(self, ref: IssueRef, login: str) -> bool:
        """Whether somebody has write permission; a bot never decides."""
        self._number(ref)
        async with self._connection.open() as client:
            return await may_write(client, self._path, login)

    async def claim(self, ref: IssueRef, claim: Claim) -> ClaimResult:
        """Claim an issue for a run or a person: of any number that try at once, one gets it."""
        async with self._open_claims(self._number(ref)) as context:
            return await claim_comments.claim_issue(context, claim)

    async def release_claim(self, ref: IssueRef, claim: Claim) -> None:
        """Give up a claim; one that is gone already is ignored."""
        async with self._open_claims(self._number(ref)) as context:
            await claim_comments.release_claim(context, claim)

    async def claims(self, ref: IssueRef) -> tuple[Claim, ...]:
        """List the claims that hold, the one that counts first."""
        async with self._open_claims(self._number(ref)) as context:
            return tuple(claim for _, claim in await claim_comments.list_claims(context))

    async def download(self, attachments: Sequence[Attachment], folder: Path) -> tuple[Attachment, ...]:
        """Store attachments in a folder and return them with their paths; a refused one says why."""
        token = await self._connection.token()
        async with self._connection.open_http() as http:
            return await Downloads(http, self._connection.endpoint, token, folder).fetch_all(attachments)

    @asynccontextmanager
    async def _open_claims(self, number: str) -> "AsyncGenerator[claim_comments.ClaimContext]":
        known: dict[str, bool] = {}
        async with self._connection.open() as client:

            async def may(login: str) -> bool:
                if login not in known:
                    known[login] = await may_write(client, self._path, login)
                return known[login]

            me = await self._connection.me(client)
            yield claim_comments.ClaimContext(client, self._path, number, me, may)

    def _number(self, ref: IssueRef) -> str:
        if ref.place != str(self._repository) or not (ref.id.isascii() and ref.id.isdecimal()):
            raise NotFound(f"there is no issue {ref} in {self._repository}")
        return ref.id


def repository_path(repository: RepositoryRef) -> str:
    """Return the path of a repository in the API."""
    return f"/repos/{quote(repository.owner, safe='')}/{quote(repository.name, safe='')}"


async def may_write(client: GitHubClient, repository: str, login: str) -> bool:
    """Whether a person has write permission to a repository."""
    if not login or login.endswith("[bot]"):
        return False
    answer: Json | None = await client.find(f"{repository}/collaborators/{quote(login, safe='')}/permission")
    if answer is None or inner(answer, "user").get("type") == "Bot":
        return False
    return answer.get("permission") in _MAY_WRITE or answer.get("role_name") in _MAY_WRITE
