"""The repository's configuration, and whether exactly the bytes that were read are trusted."""

import shlex

from handrail.errors import Untrusted
from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.sources.config.config import CONFIG, RepositoryConfig, config_in
from handrail.sources.config.toml_file import parse_toml
from handrail.sources.foreign_files import FileContent, read_content
from handrail.sources.tiers import Location
from handrail.sources.trust.store import TrustStore

__all__ = ["CONFIG", "RepositorySettings", "read_configured"]


@frozen
class RepositorySettings:
    """What a repository says about itself."""

    config: RepositoryConfig
    shown: str
    """The path of the file as shown to people."""
    content: FileContent
    """Exactly the bytes that were read."""
    distrust: str = ""
    """Why it may not be used yet; empty if it may."""

    def require(self, what: str, verb: str = "need") -> None:
        """Refuse to use a part of it that is not trusted."""
        if self.distrust:
            message = f"{what} in {self.shown} {verb} your trust: {self.distrust}"
            raise Untrusted(message, next_step=f"handrail trust {shlex.quote(self.shown)}")


def read_configured(place: Location) -> RepositorySettings | None:
    """Read the configuration of the checkout once, never that of a worktree; None if there is no such file."""
    root = place.repository
    content = None if root is None else read_content(root / CONFIG, root)
    if root is None or content is None:
        return None
    shown, report = place.display_path(root / CONFIG), Report()
    config = config_in(parse_toml(content.data, shown, report), root, report)
    trust = TrustStore(place.folders).status_of([content])
    return RepositorySettings(config, shown, content, "" if trust.is_granted else trust.reason)
