"""The repository's configuration, and whether the very bytes that were read are trusted."""

import shlex

from handrail.errors import Untrusted
from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.sources.config.config import RepositoryConfig
from handrail.sources.tiers import Place
from handrail.sources.trust.store import TrustStore
from handrail.sources.workflow_snapshot import take

CONFIG = ".handrail/config.toml"


@frozen
class Configured:
    """What a repository says about itself."""

    config: RepositoryConfig
    shown: str
    """The file, as people want to see it."""
    distrust: str = ""
    """Why it may not be used yet; empty when it may."""

    def require(self, what: str, verb: str = "need") -> None:
        """Refuse to use something of it that is not trusted."""
        if self.distrust:
            message = f"{what} in {self.shown} {verb} your trust: {self.distrust}"
            raise Untrusted(message, next_step=f"handrail trust {shlex.quote(self.shown)}")


def read_configured(place: Place) -> Configured | None:
    """Read the configuration of the checkout, never that of a work tree; none where there is no such file."""
    path = None if place.repository is None else place.repository / CONFIG
    if path is None or not path.is_file():
        return None
    before = take(path)
    config = place.config(Report())
    if config is None:
        return None
    same = take(path).fingerprint == before.fingerprint
    trust = TrustStore(place.folders).status_of(before)
    reason = "" if trust.granted else trust.reason
    return Configured(config, place.shown(path), reason if same else "it changed while it was read")
