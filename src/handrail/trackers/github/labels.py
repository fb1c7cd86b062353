"""Labels and assignees; a label that is missing is created."""

from urllib.parse import quote

from handrail.model.issues import Issue, IssueDraft
from handrail.trackers.github.answers import USUAL_PRIORITY
from handrail.trackers.github.api.client import GitHubClient
from handrail.trackers.github.api.refusals import Refused
from handrail.trackers.github.api.repetition import write_again

STATUS = "status: "
"""Begins the label for a status that GitHub does not have itself, such as `status: blocked`."""
_GREY = "ededed"
_WHY = "Created by Handrail"
_KINDS = {"feature": "enhancement"}


async def add_labels(client: GitHubClient, repository: str, number: str, names: tuple[str, ...]) -> None:
    """Add labels to an issue or a pull request, and create those that the repository does not have."""
    if not names:
        return
    await ensure_labels(client, repository, names)
    await write_again(client, "POST", f"{repository}/issues/{number}/labels", {"labels": list(names)})


async def ensure_labels(client: GitHubClient, repository: str, names: tuple[str, ...]) -> None:
    """Create the labels that a repository does not have."""
    for name in names:
        if await client.find(f"{repository}/labels/{quote(name, safe='')}") is None:
            await _create(client, repository, name)


async def _create(client: GitHubClient, repository: str, name: str) -> None:
    try:
        await write_again(client, "POST", f"{repository}/labels", {"name": name, "color": _GREY, "description": _WHY})
    except Refused as error:
        # Somebody else, or a try whose answer was lost, has created it.
        if error.status != 422 or await client.find(f"{repository}/labels/{quote(name, safe='')}") is None:
            raise


async def remove_label(client: GitHubClient, repository: str, number: str, name: str) -> None:
    """Remove a label from an issue."""
    await write_again(client, "DELETE", f"{repository}/issues/{number}/labels/{quote(name, safe='')}")


def draft_labels(draft: IssueDraft) -> tuple[str, ...]:
    """Return the labels of a new issue: its own, and those for its priority and kind."""
    level = () if draft.priority == USUAL_PRIORITY else (priority_label(draft.priority),)
    kind = () if draft.kind == "task" else (_KINDS.get(draft.kind, draft.kind),)
    return tuple(dict.fromkeys((*draft.labels, *level, *kind)))


def priority_label(priority: int) -> str:
    """Return the label of a priority."""
    return f"P{priority}"


def status_labels(issue: Issue) -> tuple[str, ...]:
    """Return the labels of an issue that name a status."""
    return tuple(label for label in issue.labels if label.startswith(STATUS))
