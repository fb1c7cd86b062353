"""Lists of workflows on disk: a server that was just started need not compile everything to list what there is.

A list is valid as long as no file from which it was made has changed, of the workflows or of Handrail itself. Nothing
is ever started from it: whoever starts a workflow compiles it and asks for trust.
"""

import json
from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from handrail.model.diagnostics import Diagnostic, Severity
from handrail.operations.pull.workflow_offer import InputOffer, ReferenceOffer, WorkflowOffer
from handrail.operations.workflows.list import WorkflowEntry
from handrail.sources.change_stamps import Stamp, code_stamp
from handrail.sources.tiers import Location, Tier

Fields: TypeAlias = dict[str, Any]

MAX_ENTRIES = 32
"""The number of lists that are stored."""


def read_list(place: Location, stamp: Stamp | None) -> tuple[WorkflowOffer, ...] | None:
    """Return the stored list of a place; None if there is none that is still valid."""
    if stamp is None:
        return None
    try:
        read = json.loads(_path(place).read_bytes())
        if read["made_from"] != _digest_stamp(stamp):
            return None
        return tuple(_decode_offered(each) for each in read["workflows"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def keep_list(place: Location, stamp: Stamp | None, offered: tuple[WorkflowOffer, ...]) -> None:
    """Store the list of a place; if that fails, it is built again the next time."""
    # The result of a Python workflow may depend on anything, so no list with one is stored.
    if stamp is None or any(each.about.form == "python" for each in offered):
        return
    path = _path(place)
    content = json.dumps({"made_from": _digest_stamp(stamp), "workflows": [asdict(each) for each in offered]})
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _replace(path, path.with_suffix(f".{sha256(repr(stamp).encode()).hexdigest()[:8]}.draft"), content)
        _forget_oldest(path.parent)


def _replace(path: Path, draft: Path, content: str) -> None:
    try:
        draft.write_text(content)
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def _path(place: Location) -> Path:
    seen_from = f"{place.folders.config}\0{place.repository}\0{place.cwd}\0{place.developing}"
    name = sha256(seen_from.encode("utf-8", "surrogateescape"))
    return place.folders.data / "lists" / f"{name.hexdigest()[:32]}.json"


def _digest_stamp(stamp: Stamp) -> str:
    return sha256(repr((code_stamp(), stamp)).encode("utf-8", "surrogateescape")).hexdigest()


def _forget_oldest(folder: Path) -> None:
    every = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    for path in every[MAX_ENTRIES:]:
        path.unlink(missing_ok=True)


def _decode_offered(read: Fields) -> WorkflowOffer:
    about: Fields = dict(read["about"])
    about["tier"] = Tier(about["tier"])
    about["shadows"] = tuple(about["shadows"])
    about["diagnostics"] = tuple(_diagnostic(each) for each in about["diagnostics"])
    fields: Fields = {**read, "about": WorkflowEntry(**about), "tags": tuple(read["tags"])}
    fields["inputs"] = tuple(_input(each) for each in read["inputs"])
    fields["references"] = tuple(ReferenceOffer(**each) for each in read["references"])
    return WorkflowOffer(**fields)


def _input(read: Fields) -> InputOffer:
    fields: Fields = {**read, "choices": tuple(read["choices"])}
    return InputOffer(**fields)


def _diagnostic(read: Fields) -> Diagnostic:
    fields: Fields = {**read, "severity": Severity(read["severity"])}
    return Diagnostic(**fields)
