"""Reads the end of the log of a failed job, which GitHub stores on other hosts."""

import re
from urllib.parse import urljoin, urlsplit

import httpx2

from handrail.errors import TrackerBusy
from handrail.trackers.github.api.client import GitHubClient

TAIL = 4_000
"""The characters that are returned of a log."""
LARGEST = 20 << 20
_STORAGE = re.compile(
    r"(?:[a-z0-9-]+\.)*(?:blob\.core\.windows\.net|actions\.githubusercontent\.com|githubusercontent\.com)\Z"
)
_STAMP = re.compile(r"^\d{4}-\d\d-\d\dT[\d:.]+Z ", re.MULTILINE)


async def read_log_tail(client: GitHubClient, repository: str, job: str) -> str:
    """Return the end of a job's log; empty where it cannot be had."""
    url = f"{client.endpoint.rest}{repository}/actions/jobs/{job}/logs"
    headers = {"authorization": f"token {client.token.value}", "user-agent": client.requester}
    try:
        async with client.gate.turn(writes=False):
            for _ in range(3):
                async with client.http.stream("GET", url, headers=headers) as answer:
                    if answer.status_code in (301, 302, 303, 307, 308):
                        url = urljoin(url, answer.headers.get("location", ""))
                        headers = _headers_for(url, client, headers)
                        continue
                    return _STAMP.sub("", await _read_tail(answer)) if answer.status_code == 200 else ""
    except (httpx2.HTTPError, TrackerBusy, _ForeignHost):
        return ""
    return ""


class _ForeignHost(Exception):
    """A log is said to be on a host that is not GitHub's."""


def _headers_for(url: str, client: GitHubClient, headers: dict[str, str]) -> dict[str, str]:
    """Return the headers for a redirect: the token stays on GitHub's own host."""
    if client.endpoint.owns(url):
        return headers
    parts = urlsplit(url)
    if parts.scheme != "https" or not _STORAGE.match(parts.hostname or ""):
        raise _ForeignHost
    return {"user-agent": client.requester}


async def _read_tail(answer: httpx2.Response) -> str:
    tail, size = b"", 0
    async for chunk in answer.aiter_bytes():
        size += len(chunk)
        if size > LARGEST:
            return ""
        tail = (tail + chunk)[-4 * TAIL :]
    return tail.decode("utf-8", "replace").lstrip("\ufeff")[-TAIL:]
