"""Finds the issue that a person means: `12`, `owner/repo#12`, an address, or the id of a local issue."""

import re

from handrail.errors import UsageError
from handrail.model.issues import BEADS, IssueRef, is_beads
from handrail.ports.trackers import TrackerCatalog

DEFAULT_HOST = "github.com"
_NUMBER = re.compile(r"#?(?P<id>[1-9][0-9]{0,17})\Z", re.ASCII)
_SHORT = re.compile(r"(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)#(?P<id>[1-9][0-9]{0,17})\Z", re.ASCII)
_ADDRESS = re.compile(
    r"https?://(?P<host>[^/\s@]+)/(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)/issues/(?P<id>[1-9][0-9]{0,17})/?(?:[?#]\S*)?\Z",
    re.ASCII,
)
_WHOLE = re.compile(r"(?P<place>[^#\s]+/[^#\s/]+/[^#\s/]+)#(?P<id>[1-9][0-9]{0,17})\Z", re.ASCII)
_OWN = re.compile(r"(?:(?P<place>local|beads(?:/[\w.-]+)?)#)?(?P<id>[A-Za-z0-9][A-Za-z0-9._-]*)\Z", re.ASCII)
FORMS = "12, owner/repo#12, the address of an issue, or the id of a local issue such as shop-a3f"


def find_issue(words: str, remote: str, catalog: TrackerCatalog) -> IssueRef:
    """Find the issue that words mean; `remote` is the URL of the repository's remote, empty if it has none."""
    words = words.strip()
    if found := _NUMBER.match(words):
        return IssueRef(_remote_place(words, remote, catalog), found["id"])
    if found := _ADDRESS.match(words):
        return IssueRef(
            _place(f"https://{found['host']}/{found['owner']}/{found['name']}", words, catalog), found["id"]
        )
    if found := _SHORT.match(words):
        own = catalog.repository_of(remote) if remote else None
        host = DEFAULT_HOST if own is None else own.host
        return IssueRef(_place(f"https://{host}/{found['owner']}/{found['name']}", words, catalog), found["id"])
    if found := _WHOLE.match(words):
        return IssueRef(_place(f"https://{found['place']}", words, catalog), found["id"])
    if found := _OWN.match(words):
        place = found["place"] or catalog.own_place()
        return IssueRef(_beads_here(catalog) if place == BEADS else place, found["id"])
    raise UsageError(f"'{words}' does not name an issue", next_step=f"write {FORMS}")


def _beads_here(catalog: TrackerCatalog) -> str:
    """Return the place of the repository's own issues in beads; where it has none, the tracker says why."""
    place = catalog.own_place()
    return place if is_beads(place) else BEADS


def _remote_place(words: str, remote: str, catalog: TrackerCatalog) -> str:
    if not remote:
        message = f"issue {words} belongs to the repository of a remote, but this repository has no remote"
        raise UsageError(message, next_step="name the repository too: --issue owner/repo#12")
    repository = catalog.repository_of(remote)
    if repository is None:
        message = f"issue {words} belongs to the repository of the remote, but its host is not a known code host"
        raise UsageError(message, next_step="name the repository too: --issue owner/repo#12")
    return str(repository)


def _place(address: str, words: str, catalog: TrackerCatalog) -> str:
    repository = catalog.repository_of(address)
    if repository is None:
        raise UsageError(f"'{words}' is not on a known code host", next_step=f"write {FORMS}")
    return str(repository)
