"""Targets of a Makefile, in which somebody wrote down how the project is checked."""

import re

from handrail.sources.projects.evidence import (
    Check,
    ProjectEvidence,
    ProjectFolder,
    build_file_check,
    checks_of,
    find_globs,
)

FILES = ("GNUmakefile", "makefile", "Makefile")
TARGETS = {
    "test": ("test", "tests", "check"),
    "lint": ("lint",),
    "types": ("types", "typecheck", "type-check", "mypy", "pyright"),
    "build": ("build",),
}
"""Each check and the targets that mean it, the best one first."""
SETUP = ("setup", "bootstrap", "deps")
_RULE = re.compile(r"^(?![\t#])([^:=#\n]+?)[ \t]*::?(?![:=])", re.MULTILINE)


def find(look: ProjectFolder) -> ProjectEvidence | None:
    """Find the targets that are checks, and one that sets up."""
    file = look.has(*FILES)
    if not file:
        return None
    names = targets(look.text(file))
    found = checks_of(_check(check, wanted, names, file) for check, wanted in TARGETS.items())
    setup = [f"make {name}" for name in SETUP if name in names][:1]
    test = next((each.command for each in found if each.name == "test"), "")
    one = build_file_check(f'{test} FILE="$FILE"', 2) if test else None
    return ProjectEvidence(
        "make", found, tuple(setup), one=one, sources=find_globs(look, "src", "lib", "app", "include")
    )


def targets(text: str) -> set[str]:
    """Return the names of a Makefile's targets."""
    return {name for rule in _RULE.finditer(text.replace("\\\n", " ")) for name in rule[1].split()}


def _check(check: str, wanted: tuple[str, ...], names: set[str], file: str) -> Check | None:
    target = next((name for name in wanted if name in names), None)
    return None if target is None else Check(check, f"make {target}", file)
