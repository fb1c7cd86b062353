"""Tells which repository the URL of a git remote names, in any of the forms that git accepts."""

import re
from urllib.parse import unquote, urlsplit

from handrail.model.issues import RepositoryRef
from handrail.trackers.github.api.endpoint import PUBLIC, TENANT

SCHEMES = ("https", "http", "ssh", "git", "git+ssh", "ssh+git", "git+https")
_WITH_PORT = ("https", "http", "git+https")
"""The schemes whose port belongs to the host of the web pages; the port of ssh or git does not."""
_SCP = re.compile(r"(?:[^@/\s:]+@)?(?P<host>\[[^\]\s]+\]|[^:/@\s]+):(?P<path>[^\s]+)\Z")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}\Z")
_ALIASES = {"www.github.com": PUBLIC, "ssh.github.com": PUBLIC}
_USUAL_PORTS = {"https": 443, "git+https": 443, "http": 80}


def parse_remote(remote: str, known: tuple[str, ...]) -> RepositoryRef | None:
    """Return the repository on github.com, a `*.ghe.com` domain or one of the `known` hosts; None for any other."""
    found = _split_url(remote.strip()) or _split_scp(remote.strip())
    if found is None:
        return None
    host, path = _ALIASES.get(found[0], found[0]), found[1]
    if host != PUBLIC and not host.endswith(TENANT) and host not in known:
        return None
    parts = path.strip("/").removesuffix(".git").rstrip("/").split("/")
    if len(parts) != 2 or not all(_NAME.match(part) and part.strip(".") for part in parts):
        return None
    return RepositoryRef(host, *parts)


def parse_place(place: str) -> RepositoryRef | None:
    """Parse a repository as `str` writes it: host, owner and name."""
    parts = place.split("/")
    return RepositoryRef(*parts) if len(parts) == 3 and all(parts) else None


def _split_url(remote: str) -> tuple[str, str] | None:
    if "://" not in remote:
        return None
    try:
        parts = urlsplit(remote)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme.lower() not in SCHEMES or not parts.hostname:
        return None
    is_shown = port is not None and parts.scheme in _WITH_PORT and port != _USUAL_PORTS[parts.scheme]
    return f"{parts.hostname.lower()}:{port}" if is_shown else parts.hostname.lower(), unquote(parts.path)


def _split_scp(remote: str) -> tuple[str, str] | None:
    """Split `user@host:owner/name.git`, which is not a URL; a path of this machine may contain a colon, too."""
    found = _SCP.match(remote)
    if found is None or "://" in remote or remote.startswith(("/", ".")):
        return None
    return found["host"].strip("[]").lower(), found["path"]
