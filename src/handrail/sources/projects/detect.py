"""Asks every kind in turn and makes one of what they say: of the root, or of the packages where the root has none."""

import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from handrail.frozen import frozen
from handrail.sources.projects import go, makefile, node, python, rust
from handrail.sources.projects.evidence import NAMES, Check, Finding, Look

KINDS: tuple[Callable[[Look], Finding | None], ...] = (
    makefile.find,
    node.find,
    python.find,
    rust.find,
    go.find,
)
"""Who looks for evidence; a new kind is a file and a line here. What a Makefile says goes before the rest."""
SKIPPED = frozenset(("node_modules", "vendor", "target", "dist", "build", "venv", "testdata", "fixtures", "examples"))
MOST_PACKAGES = 8


@frozen
class Project:
    """What a repository's files say, put together."""

    checks: tuple[Check, ...] = ()
    setup: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def detect(root: Path, ignored: Iterable[str] = ()) -> Project:
    """Find checks and set-up of a repository; `ignored` are names such as `.venv` that git ignores."""
    look = Look(root, root, frozenset(ignored))
    found = _joined(look)
    if found.checks:
        return replace(found, notes=(*found.notes, *_others(look)))
    packages = [(each, made) for each in _packages(look) if (made := _joined(each)).checks]
    if not packages:
        return found
    return _combined(look, packages, found)


def _joined(look: Look) -> Project:
    """One folder: the first that names a check has it, a second one of another kind gets a name of its own."""
    findings = [finding for kind in KINDS if (finding := kind(look)) is not None]
    checks: dict[str, Check] = {}
    for finding in findings:
        for check in finding.checks:
            before = checks.get(check.name)
            if before is None or not before.command.startswith("make "):
                own = check.name if before is None else f"{check.name}-{finding.kind}"
                checks[own] = replace(check, name=own)
    setup = [command for finding in findings if finding.kind != "make" for command in finding.setup]
    setup = setup or [command for finding in findings for command in finding.setup]
    notes = [note for finding in findings for note in finding.notes]
    return Project(tuple(sorted(checks.values(), key=_rank)), tuple(setup), tuple(notes))


def _rank(check: Check) -> int:
    return NAMES.index(check.name.partition("-")[0])


def _packages(look: Look) -> list[Look]:
    """The folders of the repository that may hold packages, two levels deep."""
    first = [each for each in look.folders() if each.folder.name not in SKIPPED]
    second = [inner for each in first for inner in each.folders() if inner.folder.name not in SKIPPED]
    return [*first, *second]


def _others(look: Look) -> tuple[str, ...]:
    """Say that packages below the root are left to the root's own checks."""
    manifests = (node.FILE, rust.FILE, "go.mod", "pyproject.toml")
    names = [str(each.folder.relative_to(look.root)) for each in _packages(look) if each.has(*manifests)]
    if not names:
        return ()
    return (f"the checks of the root are taken; it has packages too in {_listed(names)}",)


def _combined(look: Look, packages: list[tuple[Look, Project]], root: Project) -> Project:
    """Several packages and nothing at the root: each check goes into its folder."""
    taken: list[tuple[str, Project]] = []
    for each, made in packages:
        path = str(each.folder.relative_to(look.root))
        if not any(path.startswith(f"{other}/") for other, _ in taken):
            taken.append((path, made))
    kept, left = taken[:MOST_PACKAGES], [path for path, _ in taken[MOST_PACKAGES:]]
    checks: dict[str, Check] = {}
    for path, made in kept:
        for check in made.checks:
            name = _free(f"{check.name}-{re.sub(r'[^A-Za-z0-9_]+', '-', path).strip('-')}", checks)
            checks[name] = Check(name, _inside(path, check.command), f"{path}/{check.evidence}")
    setup = [_inside(path, command) for path, made in kept for command in made.setup]
    notes = [f"nothing at the root; packages found in {_listed([path for path, _ in kept])}"]
    notes += [f"left out, add them if you want them: {_listed(left)}"] if left else []
    notes += [f"{path}: {note}" for path, made in kept for note in made.notes]
    ordered = tuple(sorted(checks.values(), key=_rank))
    return Project(ordered, (*root.setup, *setup), (*root.notes, *notes))


def _free(name: str, taken: dict[str, Check]) -> str:
    return next(each for each in (name, *(f"{name}-{n}" for n in range(2, 1000))) if each not in taken)


def _inside(path: str, command: str) -> str:
    folder = f"./{path}" if path.startswith("-") else path
    return f"cd {shlex.quote(folder)} && {command}"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
