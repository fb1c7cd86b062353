"""Where GitHub is: github.com, a `*.ghe.com` domain, an Enterprise server, or a server on this machine for tests.

A token is sent to the addresses of an endpoint and nowhere else, so an address without encryption is refused, unless it
is on this machine.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

from handrail.errors import TrackerFault
from handrail.frozen import frozen
from handrail.trackers.github.api.variables import API_URL

PUBLIC = "github.com"
TENANT = ".ghe.com"
"""How the hosts of GitHub Enterprise Cloud with data residency end."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_REST = "/api/v3"
_CONFIG = '[github] api_url = "https://HOST/api/v3" in your config.toml'


@frozen
class GitHubSetting:
    """What the user configures about GitHub."""

    api_url: str = ""
    host: str = ""
    """The host of the web pages, where it does not follow from the address of the API."""


@frozen
class Endpoint:
    """The addresses of one GitHub."""

    host: str
    """The host of its web pages, with a port where it has one."""
    rest: str
    graphql: str
    web: str

    @property
    def is_public(self) -> bool:
        """Whether it is run by GitHub: github.com or a `*.ghe.com` domain."""
        return self.host == PUBLIC or self.host.endswith(TENANT)

    @property
    def is_loopback(self) -> bool:
        """Whether it is on this machine."""
        return urlsplit(self.rest).hostname in LOOPBACK

    def owns(self, url: str) -> bool:
        """Whether an address belongs to its API."""
        return _origin(url) in (_origin(self.rest), _origin(self.graphql))

    def owns_page(self, url: str) -> bool:
        """Whether an address belongs to its web pages."""
        return _origin(url) == _origin(self.web)


def configured_endpoint(environ: Mapping[str, str], setting: GitHubSetting) -> Endpoint:
    """Return the GitHub that the environment or else the user's configuration names; github.com by default."""
    if environ.get(API_URL):
        return endpoint_at(environ[API_URL], setting.host if setting.api_url == environ[API_URL] else "")
    if setting.api_url:
        return endpoint_at(setting.api_url, setting.host)
    return endpoint_of_host(setting.host or PUBLIC)


def endpoint_for(host: str, environ: Mapping[str, str], setting: GitHubSetting) -> Endpoint:
    """Return the GitHub with a host, which must be a known one."""
    for named in (configured_endpoint(environ, setting), configured_endpoint({}, setting)):
        if named.host == host:
            return named
    if host == PUBLIC or host.endswith(TENANT):
        return endpoint_of_host(host)
    message = f"{host} is not known as a GitHub host"
    raise TrackerFault(message, next_step=f"if it is a GitHub Enterprise server, write {_CONFIG}")


def endpoint_of_host(host: str) -> Endpoint:
    """Return the GitHub whose web pages are on a host."""
    host = host.lower()
    if host == PUBLIC or host.endswith(TENANT):
        return endpoint_at(f"https://api.{host}")
    return endpoint_at(f"https://{host}{_REST}")


def endpoint_at(url: str, host: str = "") -> Endpoint:
    """Return the GitHub whose REST API is at an address."""
    url = url.strip().rstrip("/")
    parts = urlsplit(url)
    name = (parts.hostname or "").lower()
    if parts.scheme not in ("https", "http") or not name or parts.username or parts.query or parts.fragment:
        message = f"'{url}' is not the address of a GitHub API"
        raise TrackerFault(message, next_step=f"set {API_URL}=https://HOST/api/v3, or write {_CONFIG}")
    if parts.scheme == "http" and name not in LOOPBACK:
        message = f"the GitHub API at {url} is refused: a token would be sent to it without encryption"
        raise TrackerFault(message, next_step="use its address that begins with https://")
    root = f"{parts.scheme}://{parts.netloc.lower()}"
    graphql = f"{root}/api/graphql" if parts.path == _REST else f"{root}{parts.path}/graphql"
    host = (host or parts.netloc).lower()
    # `api.` stands before the host of the web pages where GitHub itself runs the service.
    shown = host.removeprefix("api.") if host == f"api.{PUBLIC}" or host.endswith(TENANT) else host
    return Endpoint(shown, url, graphql, f"{parts.scheme}://{shown}")


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = -1
    usual = {"https": 443, "http": 80}.get(parts.scheme)
    return parts.scheme, (parts.hostname or "").lower(), port if port is not None else usual
