"""Finds the issues that an open pull request of somebody else will close: they are taken."""

from urllib.parse import unquote

from handrail.model.issues import Claim
from handrail.trackers.github.answers import inner, nodes, read_login
from handrail.trackers.github.api.client import GitHubClient
from handrail.trackers.github.api.queries import OPEN_WORK
from handrail.trackers.github.api.refusals import Refused


async def find_open_work(client: GitHubClient, repository: str, me: str) -> dict[str, Claim]:
    """Return who works on which issue of a repository, by the number of the issue, with one query."""
    owner, name = (unquote(each) for each in repository.split("/")[-2:])
    try:
        answer = await client.query(OPEN_WORK, owner=owner, name=name)
    except Refused:
        # Not every token may ask GraphQL; claims by comments still hold.
        return {}
    found: dict[str, Claim] = {}
    for each in nodes(answer, "repository", "pullRequests"):
        author = read_login(each, "author")
        for closed in nodes(each, "closingIssuesReferences"):
            is_here = str(inner(closed, "repository").get("nameWithOwner")).lower() == f"{owner}/{name}".lower()
            if author != me and is_here:
                found[str(closed["number"])] = Claim(by=f"person:{author}", id=f"pull request #{each['number']}")
    return found
