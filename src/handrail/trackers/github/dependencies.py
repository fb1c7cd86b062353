"""Which issues block others and belong to others: GitHub's own relations, or task lists where a host has none."""

import re

from handrail.errors import TrackerFault
from handrail.model.issues import Dependency
from handrail.trackers.github.answers import read_dependencies
from handrail.trackers.github.api.client import GitHubClient, Json
from handrail.trackers.github.api.refusals import Refused
from handrail.trackers.github.api.repetition import write_again
from handrail.trackers.github.marks import read_mark, sign_text, strip_mark

BLOCKING = "blocks"
PARENT = "parent-child"
_BLOCKED = re.compile(r"^\s*[-*] \[[ xX]\] (?:blocked by|depends on) #(\d+)\s*$", re.IGNORECASE | re.MULTILINE)
_PART = re.compile(r"^\s*part of #(\d+)\s*$", re.IGNORECASE | re.MULTILINE)


async def find_blockers(client: GitHubClient, issue: str, body: str) -> tuple[tuple[Dependency, ...], bool]:
    """Return the issues that block one, and whether the host keeps such relations itself."""
    try:
        answers = await client.list(f"{issue}/dependencies/blocked_by")
    except Refused as error:
        if not error.is_missing:
            raise
        return tuple(Dependency(on=each) for each in dict.fromkeys(_BLOCKED.findall(body))), False
    return read_dependencies(answers), True


async def find_parent(client: GitHubClient, issue: str, body: str) -> str:
    """Return the number of the issue that one is a part of; empty if there is none."""
    answer = await client.find(f"{issue}/parent")
    if answer is not None:
        return str(answer["number"])
    written = _PART.search(body)
    return written[1] if written is not None else ""


async def add_blocker(client: GitHubClient, repository: str, number: str, on: str) -> None:
    """Let an issue be blocked by another."""
    issue = f"{repository}/issues/{number}"
    answer: Json = await client.get(issue)
    blockers, is_native = await find_blockers(client, issue, str(answer.get("body") or ""))
    if any(each.on == on for each in blockers):
        return
    if not is_native:
        await _append_line(client, issue, answer, f"- [ ] Blocked by #{on}")
        return
    other: Json = await client.get(f"{repository}/issues/{on}")
    await _relate(client, f"{issue}/dependencies/blocked_by", {"issue_id": other["id"]}, _Known(issue, on))


async def add_parent(client: GitHubClient, repository: str, number: str, parent: str) -> None:
    """Make an issue a part of another."""
    issue, above = f"{repository}/issues/{number}", f"{repository}/issues/{parent}"
    answer: Json = await client.get(issue)
    body = str(answer.get("body") or "")
    if await find_parent(client, issue, body) == parent:
        return
    try:
        await write_again(client, "POST", f"{above}/sub_issues", {"sub_issue_id": answer["id"]})
    except Refused as error:
        if await find_parent(client, issue, body) == parent:
            return
        if not error.is_missing or await client.find(f"{above}/sub_issues") is not None:
            raise
        await _append_line(client, issue, answer, f"Part of #{parent}")
        await _append_line(client, above, await client.get(above), f"- [ ] #{number}")


def refuse_kind(kind: str) -> TrackerFault:
    """Build the error for a kind of dependency that GitHub does not have."""
    message = f"GitHub has no dependency of the kind '{kind}'"
    return TrackerFault(message, next_step=f"use '{BLOCKING}', or '{PARENT}' for a part of another issue")


class _Known:
    """Says whether an issue is blocked by another already."""

    def __init__(self, issue: str, on: str) -> None:
        self.issue = issue
        self.on = on

    async def holds(self, client: GitHubClient) -> bool:
        blockers, _ = await find_blockers(client, self.issue, "")
        return any(each.on == self.on for each in blockers)


async def _relate(client: GitHubClient, path: str, data: Json, known: _Known) -> None:
    """Write a relation; GitHub refuses one that exists, which a lost answer may have made."""
    try:
        await write_again(client, "POST", path, data)
    except Refused:
        if not await known.holds(client):
            raise


async def _append_line(client: GitHubClient, issue: str, answer: Json, line: str) -> None:
    """Add a line to the text of an issue, once, before our mark."""
    body = str(answer.get("body") or "")
    if line in body.splitlines():
        return
    mark, text = read_mark(body), strip_mark(body).rstrip()
    text = f"{text}\n\n{line}" if text else line
    await write_again(client, "PATCH", issue, {"body": text if mark is None else sign_text(text, mark)})
