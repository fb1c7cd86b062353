"""Tools that a Python project configures or depends on, called in the environment of its lock file."""

import re
from typing import Any

from handrail.frozen import frozen
from handrail.model.workflow.settings import FileCheck
from handrail.sources.projects.evidence import (
    Check,
    ProjectEvidence,
    ProjectFolder,
    build_file_check,
    checks_of,
    ensure_texts,
    filter_command,
    find_globs,
    find_table,
    has_word,
)

MANIFESTS = ("pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "pytest.ini", "Pipfile", "requirements.txt")
LOCKS = {
    "uv.lock": ("uv sync", "uv run "),
    "poetry.lock": ("poetry install", "poetry run "),
    "pdm.lock": ("pdm install", "pdm run "),
    "Pipfile.lock": ("pipenv sync --dev", "pipenv run "),
}
"""Lock file: the command that installs, and the prefix of a command."""
CONFIGURED = {
    "pytest": ("pytest.ini", "conftest.py", "tests/conftest.py"),
    "ruff": ("ruff.toml", ".ruff.toml"),
    "flake8": (".flake8",),
    "mypy": ("mypy.ini", ".mypy.ini"),
    "pyright": ("pyrightconfig.json",),
}
"""Files that exist only where a tool is used."""
SECTIONS = {"pytest": ("[tool:pytest]", "[pytest]"), "flake8": ("[flake8]",), "mypy": ("[mypy]",)}
"""Sections of setup.cfg and tox.ini."""
UNITTEST_FAILED = r"^(FAIL|ERROR): \S+ \(([^u]|u[^n]|un[^i]|uni[^t]|unit[^t]|unitt[^e])"
"""A test that failed; one that cannot be loaded is an error of `unittest.loader`."""
TESTS = ("!**/tests/**", "!**/test_*.py", "!**/*_test.py", "!**/conftest.py")
"""Globs that exclude tests beside the code."""
_LISTED = 'import json, sys; [print(p["name"], p["version"], p["latest_version"]) for p in json.load(sys.stdin)]'
_LISTED_PINNED = (
    r'import json, re, sys; pinned = set(re.findall(r"(?m)^([\w.-]+)==", open("requirements.txt").read())); '
    '[print(p["name"], p["version"], p["latest_version"]) for p in json.load(sys.stdin) if p["name"] in pinned]'
)
_NO_PRODUCT = re.compile(r"(setup|conftest|noxfile|tasks|fabfile|test_.*|.*_test|tests?)\.py")
_UNITTEST = re.compile(r"^\s*(import|from) unittest\b", re.MULTILINE)


@frozen
class _Project:
    """What is known of one project."""

    look: ProjectFolder
    pyproject: dict[str, Any]
    needs: str
    """All lines that name dependencies."""

    def evidence(self, tool: str) -> str:
        """Return the file that shows that a tool is used; empty when nothing does."""
        if find_table(self.pyproject, "tool").get(tool) is not None:
            return "pyproject.toml"
        for file in ("setup.cfg", "tox.ini"):
            if any(section in self.look.text(file) for section in SECTIONS.get(tool, ())):
                return file
        return self.look.has(*CONFIGURED[tool]) or ("the dependencies" if has_word(self.needs, tool) else "")


def find(look: ProjectFolder) -> ProjectEvidence | None:
    """Find the tests, the linter and the type checker, and how dependencies are installed."""
    tests = _unittests(look)
    if not look.has(*MANIFESTS, *CONFIGURED["pytest"]) and not tests:
        return None
    project = _Project(look, look.toml("pyproject.toml"), _needs(look))
    setup, before = _environment(project)
    module = "python3 -m " if not before else f"{before}python -m " if before.endswith("/") else before
    test = _tool(project, "pytest", "test", f"{module}pytest") or tests or _tox(project, before)
    lint = _tool(project, "ruff", "lint", f"{before}ruff check .")
    lint = lint or _tool(project, "flake8", "lint", f"{before}flake8")
    types = _tool(project, "mypy", "types", f"{before}{_mypy(project)}")
    types = types or _tool(project, "pyright", "types", f"{before}pyright")
    outdated, update = _updates(project, before)
    return ProjectEvidence(
        "python",
        checks_of((test, lint, types)),
        setup,
        _notes(look, setup),
        one=_detect_file_check(test, before),
        sources=_sources(look),
        outdated=outdated,
        update=update,
    )


def _detect_file_check(test: Check | None, before: str) -> FileCheck | None:
    """Build the check of one file; pytest has a separate exit code for what cannot be collected."""
    if test is None:
        return None
    if "unittest" in test.command:
        return build_file_check("python3 -m unittest", 1, when=UNITTEST_FAILED)
    return build_file_check(f"{before}tox -q --" if "pytest" not in test.command else f"{test.command} -q", 1)


def _sources(look: ProjectFolder) -> tuple[str, ...]:
    """Return the folder src, else the packages and modules of the root."""
    packages = [each.folder.name for each in look.folders() if each.has("__init__.py")]
    own = [name for name in packages if name not in ("tests", "test", "docs")]
    modules = [name for name in look.files(".py") if not _NO_PRODUCT.fullmatch(name)]
    found = find_globs(look, "src") or (*(f"{name}/**" for name in own), *modules[:20])
    return (*found, *TESTS) if found else ()


def _updates(project: _Project, before: str) -> tuple[str, str]:
    """Return how to list outdated packages, and how to update one."""
    if before == "uv run ":
        listing = f"uv pip list --outdated --format=json | python3 -c '{_LISTED}'"
        return listing, 'uv lock --upgrade-package "$PACKAGE==$VERSION" && uv sync'
    if before == "poetry run ":
        lines = "awk 'NF >= 3 {print $1, $2, $3}'"
        listing = filter_command("poetry show --outdated --top-level --no-ansi", lines)
        return listing, 'poetry add "$PACKAGE@^$VERSION"'
    if before != ".venv/bin/" or not project.look.has("requirements.txt"):
        return "", ""
    listing = f".venv/bin/python -m pip list --outdated --format=json | python3 -c '{_LISTED_PINNED}'"
    change = 'sed -i.orig -E "s/^($PACKAGE)==[^ ;]+/\\\\1==$VERSION/" requirements.txt && rm requirements.txt.orig'
    return listing, f"{change} && .venv/bin/python -m pip install -q -r requirements.txt"


def _tool(project: _Project, tool: str, check: str, command: str) -> Check | None:
    evidence = project.evidence(tool)
    return Check(check, command, evidence) if evidence else None


def _mypy(project: _Project) -> str:
    settings = find_table(project.pyproject, "tool", "mypy")
    named = "files" in settings or "packages" in settings or re.search(r"^files\s*=", _ini(project), re.MULTILINE)
    return "mypy" if named else "mypy ."


def _ini(project: _Project) -> str:
    return "\n".join(project.look.text(name) for name in ("mypy.ini", ".mypy.ini", "setup.cfg"))


def _unittests(look: ProjectFolder) -> Check | None:
    """Find tests that need nothing but Python itself."""
    for folder, command in (("tests", "python3 -m unittest discover -s tests"), (".", "python3 -m unittest")):
        inside = look.look_into(look.folder / folder)
        files = [name for name in inside.files(".py") if name.startswith("test")]
        if any(_UNITTEST.search(inside.text(name)) for name in files[:50]):
            packaged = folder != "." and inside.has("__init__.py")
            return Check("test", "python3 -m unittest discover -t . -s tests" if packaged else command, files[0])
    return None


def _tox(project: _Project, before: str) -> Check | None:
    return Check("test", f"{before}tox", "tox.ini") if "[testenv" in project.look.text("tox.ini") else None


def _environment(project: _Project) -> tuple[tuple[str, ...], str]:
    """Return how dependencies are installed in a fresh copy, and the prefix of commands then."""
    look = project.look
    for lock, (install, before) in LOCKS.items():
        if look.has(lock):
            return (install + _extras(project, lock),), before
    packages = _requirements(look)
    # Without the entry in .gitignore the whole environment would count as the run's work.
    if not packages or ".venv" not in look.ignored:
        return (), ""
    return ("python3 -m venv .venv", f".venv/bin/python -m pip install -q {packages}"), ".venv/bin/"


def _requirements(look: ProjectFolder) -> str:
    files = [f"-r {name}" for name in _requirement_files(look)]
    return " ".join(files) or ("-e ." if look.toml("pyproject.toml").get("project") or look.has("setup.py") else "")


def _requirement_files(look: ProjectFolder) -> list[str]:
    usual = ("requirements.txt", "requirements-dev.txt", "requirements_dev.txt", "dev-requirements.txt")
    return [name for name in (*usual, "requirements-test.txt", "test-requirements.txt") if look.has(name)]


def _extras(project: _Project, lock: str) -> str:
    """Return options for the extras that contain the tools: uv and poetry leave them out unless they are named."""
    if lock not in ("uv.lock", "poetry.lock"):
        return ""
    extras = find_table(project.pyproject, "project", "optional-dependencies")
    used = [
        name for name, needs in extras.items() if any(has_word("\n".join(ensure_texts(needs)), t) for t in CONFIGURED)
    ]
    return "".join(f" --extra {name}" for name in used if re.fullmatch(r"[\w.-]+", name))


def _needs(look: ProjectFolder) -> str:
    pyproject = look.toml("pyproject.toml")
    project = find_table(pyproject, "project")
    lists = [project.get("dependencies"), *find_table(project, "optional-dependencies").values()]
    lists += find_table(pyproject, "dependency-groups").values()
    lists += [find_table(pyproject, "tool", "uv").get("dev-dependencies")]
    poetry = find_table(pyproject, "tool", "poetry")
    groups = [find_table(poetry, "group", name, "dependencies") for name in find_table(poetry, "group")]
    tables = [find_table(poetry, "dependencies"), find_table(poetry, "dev-dependencies"), *groups]
    lines = [text for each in lists for text in ensure_texts(each)] + [name for table in tables for name in table]
    return "\n".join([*lines, *map(look.text, (*_requirement_files(look), "Pipfile"))])


def _notes(look: ProjectFolder, setup: tuple[str, ...]) -> tuple[str, ...]:
    if setup or not _requirements(look):
        return ()
    return ("no lock file and no ignored .venv: Python checks use the Python on your PATH",)
