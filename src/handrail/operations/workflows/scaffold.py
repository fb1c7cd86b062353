"""Writes a new workflow with a prompt and a test to start from, and trusts exactly the bytes that it wrote."""

import re
import shlex
import tempfile
from pathlib import Path

from handrail.errors import EnvironmentFault, UsageError
from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.sources.foreign_files import FileContent, is_inside, printable, real, reason
from handrail.sources.library import library_root
from handrail.sources.tiers import Location, Tier, discover
from handrail.sources.trust.store import TrustStore

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
PLACEHOLDER = "NAME"


@frozen
class ScaffoldResult:
    """A workflow that was written."""

    name: str
    tier: Tier
    folder: str
    """The path as shown to people."""
    files: tuple[str, ...]
    hides: tuple[str, ...]
    """The tiers that had a workflow of this name, which it now hides."""


def scaffold(place: Location, name: str, tier: Tier) -> ScaffoldResult:
    """Write a workflow of this name; an existing one is never touched."""
    if not NAME.fullmatch(name):
        hint = "use lowercase letters, digits, - _ and ., for example fix-typos"
        raise UsageError(f"'{printable(name)}' is not a valid workflow name", next_step=hint)
    folder = _folder(place, tier) / name
    found = [each for each in discover(place, Report()) if each.name == name]
    same = next((each for each in found if each.tier is tier), None)
    if same is not None:
        where = place.display_path(same.main)
        raise UsageError(f"the workflow {name} already exists: {where}", next_step=f"handrail inspect {name}")
    files = _files(name)
    _write(files, folder)
    if tier is Tier.REPOSITORY:
        TrustStore(place.folders).trust(
            FileContent(real(folder) / path, data) for path, data in files.items() if not path.startswith("tests/")
        )
    hides = tuple(str(each.tier) for each in found if each.tier is not Tier.USER)
    return ScaffoldResult(name, tier, place.display_path(folder), tuple(sorted(files)), hides)


def _folder(place: Location, tier: Tier) -> Path:
    if tier is Tier.USER:
        return place.folders.workflows
    if place.repository is None:
        raise UsageError("this folder is not in a repository", next_step="go to one, or: handrail new NAME --to user")
    folder = place.repository / ".handrail" / "workflows"
    if not is_inside(folder, place.repository):
        message = f"{printable(str(folder))} leads outside the repository"
        raise UsageError(message, next_step="replace the link with a real folder")
    return folder


def _files(name: str) -> dict[str, bytes]:
    source = library_root() / "scaffold"
    paths = [path for path in source.rglob("*") if path.is_file()]
    texts = {path.relative_to(source).as_posix(): path.read_text("utf-8") for path in paths}
    return {path.replace(PLACEHOLDER, name): text.replace(PLACEHOLDER, name).encode() for path, text in texts.items()}


def _write(files: dict[str, bytes], target: Path) -> None:
    """Write a folder atomically: it is there completely or not at all."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as draft:
            whole = Path(draft) / target.name
            for name, data in files.items():
                path = whole / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            whole.rename(target)
    except OSError as error:
        message = f"{printable(str(target))} cannot be written: {reason(error)}"
        next_step = f"check the permissions of {shlex.quote(printable(str(target.parent)))}"
        raise EnvironmentFault(message, next_step=next_step) from error
