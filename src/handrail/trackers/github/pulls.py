"""Pull requests: found, opened and brought to a wanted state."""

from dataclasses import replace
from urllib.parse import urlencode

from handrail.errors import NotFound
from handrail.frozen import frozen
from handrail.model.issues import Marker
from handrail.model.pull_requests import PullRequest, PullRequestDraft, PullRequestRef
from handrail.trackers.github.answers import inner, read_labels, read_login, read_pull_request
from handrail.trackers.github.api.client import GitHubClient, Json
from handrail.trackers.github.api.refusals import Refused
from handrail.trackers.github.api.repetition import make_once, write_again
from handrail.trackers.github.comments import is_ours
from handrail.trackers.github.labels import add_labels
from handrail.trackers.github.marks import neutralize, read_mark, sign_text
from handrail.trackers.github.reviewers import request_reviews

LONGEST_TITLE = 256
_NOTHING = "No commits between"
"""What GitHub says of a branch that contains nothing new."""
_MORE = "if it is merged already, nothing more is needed; if the run should have changed something, check its steps"


@frozen
class Pulls:
    """The pull requests of a repository, for one operation."""

    client: GitHubClient
    repository: str
    """The path of the repository in the API."""
    owner: str
    me: str

    async def get(self, ref: PullRequestRef) -> Json:
        """Fetch a pull request; `NotFound` if there is none."""
        answer = await self.client.find(f"{self.repository}/pulls/{ref.number}")
        if answer is None:
            raise NotFound(f"there is no pull request {ref}, or the token may not see it")
        return answer

    async def list_of_branch(self, head: str, state: str) -> list[Json]:
        """List the pull requests of a branch, the newest first."""
        asked = urlencode({"head": f"{self.owner}:{head}", "state": state, "sort": "created", "direction": "desc"})
        return [
            each
            for each in await self.client.list(f"{self.repository}/pulls?{asked}")
            if inner(each, "head").get("ref") == head
        ]

    async def find_marked(self, head: str, marker: Marker) -> Json | None:
        """Find the newest pull request of a branch that we opened with a mark."""
        found = await self.list_of_branch(head, "all")
        ours = [each for each in found if is_ours(each, self.me, marker)]
        return max(ours, key=lambda each: int(each["number"]), default=None)

    async def find_open(self, head: str) -> Json | None:
        """Find the open pull request of a branch, whoever opened it; there is at most one per base."""
        found = await self.list_of_branch(head, "open")
        return max(found, key=lambda each: (read_login(each) == self.me, int(each["number"])), default=None)

    async def open(self, draft: PullRequestDraft, marker: Marker) -> PullRequest:
        """Open a pull request, or bring the open one of the branch to the wanted state."""
        found, remarks = await self.find_open(draft.head), list[str]()
        if found is None:
            found, remarks = await self._create(draft, marker)
        return await self.bring_to(found, draft, marker, remarks)

    async def _create(self, draft: PullRequestDraft, marker: Marker) -> tuple[Json, list[str]]:
        data: Json = {
            "title": draft.title[:LONGEST_TITLE],
            "body": sign_text(draft.body, marker),
            "head": draft.head,
            "base": draft.base,
            "draft": draft.draft,
        }
        try:
            return await self._send(data, draft.head), []
        except Refused as error:
            if _NOTHING in error.message:
                message = f"there is nothing to merge: {draft.base} already contains all commits of {draft.head}"
                raise Refused(message, status=error.status, next_step=_MORE) from error
            if not draft.draft or "draft" not in error.message.lower():
                raise
        remark = "it was opened as ready for review: the repository does not support drafts"
        return await self._send({**data, "draft": False}, draft.head), [remark]

    async def _send(self, data: Json, head: str) -> Json:
        async def make() -> Json:
            return await self.client.write("POST", f"{self.repository}/pulls", data)

        async def find() -> Json | None:
            return await self.find_open(head)

        try:
            return await make_once(self.client, make, find)
        except Refused as error:
            # Another process, or a try whose answer was lost, has opened it.
            found = await find() if error.status == 422 else None
            if found is None:
                raise
            return found

    async def bring_to(
        self, answer: Json, draft: PullRequestDraft, marker: Marker | None, remarks: list[str]
    ) -> PullRequest:
        """Bring a pull request to the wanted state; the words of another author are left alone."""
        path = f"{self.repository}/pulls/{answer['number']}"
        fields = self._changed_fields(answer, draft, marker)
        if fields:
            await write_again(self.client, "PATCH", path, fields)
            answer = await self.client.get(path)
        missing = tuple(each for each in draft.labels if each not in read_labels(answer))
        remarks += await self._add_labels(str(answer["number"]), missing)
        remarks += await request_reviews(self.client, path, answer, draft.reviewers)
        return replace(read_pull_request(answer, draft.repository), remarks=tuple(remarks))

    async def _add_labels(self, number: str, names: tuple[str, ...]) -> list[str]:
        try:
            await add_labels(self.client, self.repository, number, names)
        except Refused as error:
            return [f"the labels {', '.join(names)} could not be added: {error.message}"]
        return []

    def _changed_fields(self, answer: Json, draft: PullRequestDraft, marker: Marker | None) -> Json:
        shown = read_pull_request(answer, draft.repository)
        fields: Json = {}
        if shown.base != draft.base and shown.status == "open":
            fields["base"] = draft.base
        if shown.author != self.me:
            return fields
        mark = marker or read_mark(str(answer.get("body") or ""))
        body = neutralize(draft.body) if mark is None else sign_text(draft.body, mark)
        if body != str(answer.get("body") or ""):
            fields["body"] = body
        if draft.title[:LONGEST_TITLE] != shown.title:
            fields["title"] = draft.title[:LONGEST_TITLE]
        return fields
