"""Where a pull request is opened: the host, the repository, the branch of the remote, and by what it is found again."""

from handrail.frozen import frozen
from handrail.model.history.trees import Tree
from handrail.model.issues import Marker, RepositoryRef
from handrail.ports.pull_requests import PullRequests


@frozen
class Place:
    """Where a pull request is opened."""

    host: PullRequests
    repository: RepositoryRef
    remote: str
    branch: str
    """The branch of the remote."""
    base: str
    marker: Marker
    commit: str
    """The newest commit of the run's branch."""


def branch_of(tree: Tree, run: str, key: str) -> str:
    """Return the branch of the remote: that of the run, or the stable one of a key."""
    if not key:
        return tree.branch
    name = "".join(sign if sign.isalnum() or sign in "-_." else "-" for sign in key).strip("-.") or "key"
    return tree.branch.replace(run, name) if run in tree.branch else f"handrail/{name}"
