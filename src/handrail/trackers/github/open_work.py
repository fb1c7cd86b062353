"""Finds the issues that an open pull request of somebody else will close: they are taken."""

from urllib.parse import unquote

from handrail.model.issues import Claim
from handrail.trackers.github.client import GitHubClient, Json
from handrail.trackers.github.queries import OPEN_WORK
from handrail.trackers.github.refusals import Refused


async def find_open_work(client: GitHubClient, repository: str, me: str) -> dict[str, Claim]:
    """Return who works on which issue of a repository, by the number of the issue, with one query."""
    owner, name = (unquote(each) for each in repository.split("/")[-2:])
    try:
        answer = await client.query(OPEN_WORK, owner=owner, name=name)
    except Refused:
        # Not every token may ask GraphQL; claims by comments still hold.
        return {}
    opened: list[Json] = ((answer.get("repository") or {}).get("pullRequests") or {}).get("nodes") or []
    found: dict[str, Claim] = {}
    for each in opened:
        author = str((each.get("author") or {}).get("login") or "ghost")
        for closed in (each.get("closingIssuesReferences") or {}).get("nodes") or []:
            is_here = closed["repository"]["nameWithOwner"].lower() == f"{owner}/{name}".lower()
            if author != me and is_here:
                found[str(closed["number"])] = Claim(by=f"person:{author}", id=f"pull request #{each['number']}")
    return found
