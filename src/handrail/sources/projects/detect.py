"""Asks every kind of project in turn and combines the results: of the root, or of the packages where it has none."""

import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from handrail.frozen import frozen
from handrail.model.workflow.settings import FileCheck
from handrail.sources.projects import dotnet, go, jvm, makefile, node, php, python, ruby, rust
from handrail.sources.projects.evidence import NAMES, Check, ProjectEvidence, ProjectFolder

KINDS: tuple[Callable[[ProjectFolder], ProjectEvidence | None], ...] = (
    makefile.find,
    node.find,
    python.find,
    rust.find,
    go.find,
    jvm.find,
    ruby.find,
    php.find,
    dotnet.find,
)
"""The detectors; a new kind is a file and a line here. What a Makefile says takes precedence over the rest."""
SKIPPED = frozenset(("node_modules", "vendor", "target", "dist", "build", "venv", "testdata", "fixtures", "examples"))
MAX_PACKAGES = 8
ELSEWHERE = ("**", "!**/{test,tests,spec,specs,__tests__,testdata}/**", "!**/*{test,spec,Test,Spec}*")
"""Globs of the product's code where its folders are not known: everything but tests."""
_PLAIN = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_./-]*")


@frozen
class Project:
    """The combined findings in a repository."""

    checks: tuple[Check, ...] = ()
    setup: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    one: FileCheck | None = None
    """How the tests of one file are run."""
    sources: tuple[str, ...] = ()
    outdated: str = ""
    update: str = ""


def detect(root: Path, ignored: Iterable[str] = ()) -> Project:
    """Find the checks and the set-up of a repository; `ignored` are names such as `.venv` that git ignores."""
    look = ProjectFolder(root, root, frozenset(ignored))
    found = _detect_folder(look)
    if found.checks:
        return replace(found, notes=(*found.notes, *_note_packages(look)))
    packages = [(each, made) for each in _packages(look) if (made := _detect_folder(each)).checks]
    if not packages:
        return found
    return _combine_packages(look, packages, found)


def _detect_folder(look: ProjectFolder) -> Project:
    """Combine the findings in one folder: a check's name goes to the first, a second of another kind gets a suffix."""
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
    # A Makefile knows least about single files: it runs all tests.
    ordered = sorted(findings, key=lambda finding: finding.kind == "make")
    one = next((finding.one for finding in ordered if finding.one is not None), None)
    listing = next((finding for finding in ordered if finding.outdated), ProjectEvidence(""))
    languages = [finding for finding in ordered if finding.kind != "make"] or ordered
    sources = tuple(dict.fromkeys(glob for finding in languages for glob in finding.sources))
    sources = sources or (ELSEWHERE if checks else ())
    found = Project(tuple(sorted(checks.values(), key=_rank)), tuple(setup), tuple(notes))
    return replace(found, one=one, sources=sources, outdated=listing.outdated, update=listing.update)


def _rank(check: Check) -> int:
    return NAMES.index(check.name.partition("-")[0])


def _packages(look: ProjectFolder) -> list[ProjectFolder]:
    """List the folders of the repository that may contain packages, two levels deep."""
    first = [each for each in look.folders() if each.folder.name not in SKIPPED]
    second = [inner for each in first for inner in each.folders() if inner.folder.name not in SKIPPED]
    return [*first, *second]


def _note_packages(look: ProjectFolder) -> tuple[str, ...]:
    """Note that packages below the root are left to the root's own checks."""
    manifests = (node.FILE, rust.FILE, "go.mod", "pyproject.toml", "pom.xml", "Gemfile", "composer.json")
    names = [str(each.folder.relative_to(look.root)) for each in _packages(look) if each.has(*manifests)]
    if not names:
        return ()
    return (f"the checks of the root are used; there are also packages in {_list_names(names)}",)


def _combine_packages(look: ProjectFolder, packages: list[tuple[ProjectFolder, Project]], root: Project) -> Project:
    """Combine several packages where the root has nothing: each check runs in its folder."""
    taken: list[tuple[str, Project]] = []
    for each, made in packages:
        path = str(each.folder.relative_to(look.root))
        if not any(path.startswith(f"{other}/") for other, _ in taken):
            taken.append((path, made))
    kept, left = taken[:MAX_PACKAGES], [path for path, _ in taken[MAX_PACKAGES:]]
    checks: dict[str, Check] = {}
    for path, made in kept:
        for check in made.checks:
            name = _free(f"{check.name}-{re.sub(r'[^A-Za-z0-9_]+', '-', path).strip('-')}", checks)
            checks[name] = Check(name, _run_in_folder(path, check.command), f"{path}/{check.evidence}")
    setup = [_run_in_folder(path, command) for path, made in kept for command in made.setup]
    notes = [f"nothing at the root; packages found in {_list_names([path for path, _ in kept])}"]
    notes += [f"left out; add them if you need them: {_list_names(left)}"] if left else []
    notes += [f"{path}: {note}" for path, made in kept for note in made.notes]
    ordered = tuple(sorted(checks.values(), key=_rank))
    one = _combine_file_checks(kept)
    if one is None:
        notes.append("the packages run their tests in different ways: write [checks.test_one] for the one you work on")
    sources = tuple(_prefix_glob(path, glob) for path, made in kept for glob in made.sources)
    return Project(ordered, (*root.setup, *setup), (*root.notes, *notes), one, sources)


def _combine_file_checks(packages: list[tuple[str, Project]]) -> FileCheck | None:
    """Build one file check for all packages, each in its folder; None where failing tests look different in them."""
    # The path is inside an expansion, where quotes do not help: only names without special characters are used.
    found = [(path, made.one) for path, made in packages if made.one is not None and _PLAIN.fullmatch(path)]
    if not found or len({(one.failed, one.failed_when) for _, one in found}) > 1:
        return None
    cases = "".join(f" {path}/*) {_run_file_check_in(path, one.command)};;" for path, one in found)
    return replace(found[0][1], command=f'case "$FILE" in{cases} *) echo "$FILE is in no package" >&2; exit 2;; esac')


def _run_file_check_in(path: str, command: str) -> str:
    placed = command if "$FILE" in command else f'{command} "$FILE"'
    return _run_in_folder(path, f'FILE="${{FILE#{path}/}}" && {placed}')


def _prefix_glob(path: str, glob: str) -> str:
    return f"!{path}/{glob[1:]}" if glob.startswith("!") else f"{path}/{glob}"


def _free(name: str, taken: dict[str, Check]) -> str:
    return next(each for each in (name, *(f"{name}-{n}" for n in range(2, 1000))) if each not in taken)


def _run_in_folder(path: str, command: str) -> str:
    folder = f"./{path}" if path.startswith("-") else path
    return f"cd {shlex.quote(folder)} && {command}"


def _list_names(names: list[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
