"""Writes what `init` found, and trusts exactly the bytes that it wrote."""

import tempfile
from pathlib import Path

from handrail.errors import EnvironmentFault, UsageError
from handrail.frozen import frozen
from handrail.operations.atomic_files import replace_file
from handrail.operations.init.find_out import WORKFLOW, ProjectSurvey
from handrail.operations.workflows.repository_config import CONFIG
from handrail.sources.foreign_files import FileContent, is_inside, printable, read_content, real, reason
from handrail.sources.library import library_root
from handrail.sources.tiers import Location
from handrail.sources.trust.store import TrustStore
from handrail.sources.workflow_snapshot import take

MAIN = "workflow.yaml"


@frozen
class WriteResult:
    """A file or folder that was written, and whether it may run."""

    path: str
    """Relative to the root of the repository."""
    trusted: bool


def write_config(place: Location, found: ProjectSurvey, text: str) -> WriteResult:
    """Write the configuration; it is trusted if the previous content was, and nothing else changed it in between."""
    path = found.root / CONFIG
    before = read_content(path, found.root) if found.text is not None else None
    if before is not None and before.data != (found.text or "").encode():
        raise UsageError(
            f"{CONFIG} was changed in the meantime; Handrail did not write to it", next_step="handrail init"
        )
    _make_folder(path.parent, found.root)
    replace_file(path, text.encode())
    if not found.distrust:
        TrustStore(place.folders).trust([FileContent(real(path.parent) / path.name, text.encode())])
    return WriteResult(CONFIG, not found.distrust)


def write_workflow(place: Location, found: ProjectSurvey) -> WriteResult:
    """Copy the library's first workflow into the repository."""
    source = library_root() / "workflows" / WORKFLOW
    files = {str(path.relative_to(source)): path.read_bytes() for path in source.rglob("*") if _is_content(path)}
    folder = found.root / ".handrail" / "workflows"
    _make_folder(folder, found.root)
    try:
        _copy(files, folder / WORKFLOW)
    except OSError as error:
        message = f"{printable(str(folder / WORKFLOW))} cannot be written: {reason(error)}"
        raise EnvironmentFault(message, next_step=f"check the permissions of {printable(str(folder))}") from error
    store, own = TrustStore(place.folders), real(folder / WORKFLOW)
    store.trust(FileContent(own / name, files[name]) for name in take(source / MAIN).files)
    trusted = store.status_of(take(folder / WORKFLOW / MAIN).contents).is_granted
    return WriteResult(f".handrail/workflows/{WORKFLOW}/", trusted)


def _is_content(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts


def _copy(files: dict[str, bytes], target: Path) -> None:
    """Write a folder atomically: it is there completely or not at all."""
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as draft:
        whole = Path(draft) / target.name
        for name, data in files.items():
            path = whole / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        whole.rename(target)


def _make_folder(folder: Path, root: Path) -> None:
    if not is_inside(folder, root):
        message = f"{printable(str(folder))} leads outside the repository"
        raise UsageError(message, next_step="replace the link with a real folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"{printable(str(folder))} cannot be created: {reason(error)}"
        raise EnvironmentFault(message, next_step=f"check the permissions of {printable(str(root))}") from error
