"""What a workflow may run, and the user's word that it may."""

from dataclasses import replace
from pathlib import Path

from handrail.errors import UsageError
from handrail.frozen import frozen
from handrail.operations.workflows.find_targets import one
from handrail.sources.tiers import Place
from handrail.sources.trust.store import State, TrustStore
from handrail.sources.workflow_snapshot import Snapshot, take


@frozen
class TrustQuestion:
    """Content to be trusted: what it is, how it stands, and how it differs from what was trusted."""

    name: str
    path: str
    digest: str
    state: State
    reason: str
    files: tuple[tuple[str, int], ...]
    """Each file with its size in bytes."""
    refused: tuple[tuple[str, str], ...]
    difference: str
    snapshot: Snapshot

    @property
    def granted(self) -> bool:
        """Whether it may run already."""
        return self.state in {"trusted", "repository"}


def examine(place: Place, name_or_path: str) -> TrustQuestion:
    """Read a workflow's files once and say how they stand."""
    name, main = _main(place, name_or_path)
    snapshot = take(main)
    store = TrustStore(place.folders)
    status = store.status_of(snapshot)
    return TrustQuestion(
        name=name,
        path=place.shown(main),
        digest=snapshot.fingerprint,
        state=status.state,
        reason=status.reason,
        files=tuple((path, len(data)) for path, data in sorted(snapshot.files.items())),
        refused=tuple(sorted(snapshot.refused.items())),
        difference="" if status.granted else store.difference_of(snapshot),
        snapshot=snapshot,
    )


def grant(place: Place, question: TrustQuestion) -> TrustQuestion:
    """Trust the very content that was examined, whatever the files hold by now."""
    store = TrustStore(place.folders)
    store.trust_snapshot(question.snapshot)
    status = store.status_of(question.snapshot)
    return replace(question, state=status.state, reason=status.reason, difference="")


def forget(place: Place, name_or_path: str) -> bool:
    """Withdraw trust; tell whether there was any."""
    return TrustStore(place.folders).forget(_main(place, name_or_path)[1])


def _main(place: Place, name_or_path: str) -> tuple[str, Path]:
    """Find what is meant: a workflow, or the repository's configuration, whose checks are commands too."""
    config = place.repository / ".handrail" / "config.toml" if place.repository is not None else None
    if config is not None and config.is_file() and (place.cwd or Path.cwd()) / name_or_path == config:
        return "config.toml", config
    found = one(place, name_or_path)
    if found.problem is not None:
        raise UsageError(f"'{found.name}' cannot be used: {found.problem}")
    return found.name, found.main
