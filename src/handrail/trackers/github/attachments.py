"""Files that issues and comments link to: found and downloaded from GitHub's own hosts alone.

Anybody can put a link into an issue. The token is sent to the pages of the same GitHub and nowhere else; a redirect may
lead to GitHub's storage, without the token; what is too big is given up on the way.
"""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import httpx2

from handrail.model.issues import Attachment
from handrail.trackers.github.api.endpoint import Endpoint
from handrail.trackers.github.api.token import Token

LARGEST = 10 << 20
"""The most bytes of one file."""
MOST = 20
"""The most files of one issue."""
_LINK = re.compile(r"https?://[^\s<>\"'`)\]}\\]+")
_PAGES = re.compile(
    r"/(?:user-attachments/(?:assets|files)/[\w./%-]+|[\w.-]+/[\w.-]+/(?:assets|files)/\d+/[\w./%-]+|storage/user/[\w./%-]+)\Z"
)
_IMAGES = ("user-images.githubusercontent.com", "private-user-images.githubusercontent.com")
_STORAGE = re.compile(
    r"(?:[a-z0-9-]+\.)*githubusercontent\.com\Z|github-production-[a-z0-9-]+\.s3\.amazonaws\.com\Z"
    r"|github-cloud\.s3\.amazonaws\.com\Z"
)
_REDIRECTS = (301, 302, 303, 307, 308)
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def find_attachments(texts: Iterable[str], endpoint: Endpoint) -> tuple[Attachment, ...]:
    """Find the links to attachments in texts, each once."""
    links = (link.rstrip(".,;:!?*_") for text in texts for link in _LINK.findall(text))
    own = dict.fromkeys(link for link in links if is_attachment(link, endpoint))
    return tuple(Attachment(name=_name(link), url=link) for link in own)


def is_attachment(url: str, endpoint: Endpoint) -> bool:
    """Whether an address is one of an attachment on this GitHub."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    if "/../" in unquote(parts.path) or parts.username is not None:
        return False
    if endpoint.owns_page(url):
        return _PAGES.match(parts.path) is not None
    is_image = host in _IMAGES if endpoint.is_public else host == f"media.{endpoint.host}"
    return is_image and parts.scheme == "https" and parts.port in (None, 443)


class Downloads:
    """Downloads attachments into a folder."""

    def __init__(self, http: httpx2.AsyncClient, endpoint: Endpoint, token: Token, folder: Path) -> None:
        self._http = http
        self._endpoint = endpoint
        self._token = token
        self._folder = folder
        self._names: set[str] = set()

    async def fetch_all(self, attachments: Sequence[Attachment]) -> tuple[Attachment, ...]:
        """Download attachments; one that is refused says why."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        first = [await self._fetch(each) for each in attachments[:MOST]]
        rest = (
            replace(each, problem=f"only the first {MOST} attachments are downloaded") for each in attachments[MOST:]
        )
        return (*first, *rest)

    async def _fetch(self, attachment: Attachment) -> Attachment:
        if not is_attachment(attachment.url, self._endpoint):
            return replace(attachment, problem=f"it is not an attachment on {self._endpoint.host}")
        path = self._folder / self._free_name(attachment)
        try:
            size = await self._store(attachment.url, path)
        except _RefusedFile as error:
            return replace(attachment, problem=str(error))
        except httpx2.HTTPError as error:
            return replace(attachment, problem=f"it could not be downloaded: {str(error) or type(error).__name__}")
        except OSError as error:
            return replace(attachment, problem=f"it could not be stored: {error.strerror}")
        return replace(attachment, path=str(path), size=size)

    async def _store(self, url: str, path: Path) -> int:
        for _ in range(5):
            async with self._http.stream("GET", url, headers=self._headers(url)) as answer:
                if answer.status_code in _REDIRECTS:
                    url = self._follow(url, answer.headers.get("location", ""))
                    continue
                if answer.status_code != 200:
                    raise _RefusedFile(f"{urlsplit(url).hostname} answered with {answer.status_code}")
                return await _write(answer, path)
        raise _RefusedFile("it was redirected too often")

    def _headers(self, url: str) -> dict[str, str]:
        is_own = self._endpoint.owns_page(url) or self._endpoint.owns(url)
        return {"user-agent": "handrail", **({"authorization": f"token {self._token.value}"} if is_own else {})}

    def _follow(self, url: str, location: str) -> str:
        target = urljoin(url, location)
        parts = urlsplit(target)
        is_storage = parts.scheme == "https" and _STORAGE.match(parts.hostname or "") is not None
        if location and (self._endpoint.owns_page(target) or is_storage or is_attachment(target, self._endpoint)):
            return target
        raise _RefusedFile(f"it is redirected to {parts.hostname or 'nowhere'}, which is not GitHub's storage")

    def _free_name(self, attachment: Attachment) -> str:
        """Return a name that is safe on every disk and not used yet in this folder."""
        base = _UNSAFE.sub("-", attachment.name).strip(".-")[-100:] or "attachment"
        name, number = base, 1
        while name.lower() in self._names:
            number += 1
            name = f"{number}-{base}"
        self._names.add(name.lower())
        return name


class _RefusedFile(Exception):
    """An attachment that is not stored, and why."""


async def _write(answer: httpx2.Response, path: Path) -> int:
    """Write an answer into a new file, which is removed again if it is too big or cut off."""
    if int(answer.headers.get("content-length") or 0) > LARGEST:
        raise _RefusedFile(f"it is bigger than {LARGEST >> 20} MB")
    path.unlink(missing_ok=True)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    size = 0
    try:
        async for chunk in answer.aiter_bytes():
            size += len(chunk)
            if size > LARGEST:
                raise _RefusedFile(f"it is bigger than {LARGEST >> 20} MB")
            os.write(file, chunk)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(file)
    return size


def _name(url: str) -> str:
    return unquote(urlsplit(url).path).rpartition("/")[2] or "attachment"
