"""Which checks and which set-up each kind of repository has, by the evidence in its files alone."""

from pathlib import Path

import pytest

from handrail.sources.projects.detect import Project, detect
from support.sources.projects import PACKAGE, PYPROJECT, checks, project

IGNORED = (".venv",)


def test_an_empty_folder_has_no_checks_and_nothing_to_set_up(tmp_path: Path) -> None:
    assert project(tmp_path, {"README.md": "Run pytest, make test or npm test.\n"}) == Project()


MAKEFILE = """\
.PHONY: test lint
CC := cc
TEST = no
all: build
build: main.o
\techo build
test lint: build
\techo both
typecheck::
\techo types
"""


def test_a_bare_makefile_gives_the_targets_that_are_checks(tmp_path: Path) -> None:
    assert checks(project(tmp_path, {"Makefile": MAKEFILE})) == {
        "test": "make test",
        "lint": "make lint",
        "types": "make typecheck",
        "build": "make build",
    }


def test_check_is_the_test_of_a_makefile_without_a_better_one(tmp_path: Path) -> None:
    assert checks(project(tmp_path, {"Makefile": "check:\n\ttrue\nsetup:\n\ttrue\n"})) == {"test": "make check"}
    assert detect(tmp_path).setup == ("make setup",)


def test_a_variable_or_a_recipe_of_a_makefile_is_no_target(tmp_path: Path) -> None:
    found = project(tmp_path, {"Makefile": "test = 1\nlint := 2\nbuild ?= 3\nall:\n\techo types: none\n# test: no\n"})
    assert found.checks == ()


@pytest.mark.parametrize(
    ("lock", "setup", "test", "lint"),
    [
        ("package-lock.json", "npm ci", "npm test", "npm run lint"),
        ("pnpm-lock.yaml", "pnpm install --frozen-lockfile", "pnpm test", "pnpm run lint"),
        ("yarn.lock", "yarn install --frozen-lockfile", "yarn test", "yarn run lint"),
        ("bun.lock", "bun install --frozen-lockfile", "bun run test", "bun run lint"),
    ],
)
def test_the_lock_file_says_which_package_manager_is_used(
    tmp_path: Path, lock: str, setup: str, test: str, lint: str
) -> None:
    found = project(tmp_path, {"package.json": PACKAGE, lock: ""})
    assert found.setup == (setup,)
    assert checks(found)["test"] == test
    assert checks(found)["lint"] == lint


def test_the_package_manager_that_is_named_goes_before_a_lock_file(tmp_path: Path) -> None:
    found = project(tmp_path, {"package.json": {**PACKAGE, "packageManager": "pnpm@9.1.0"}, "package-lock.json": "{}"})
    assert checks(found)["test"] == "pnpm test"


def test_a_modern_yarn_is_told_apart_by_its_configuration(tmp_path: Path) -> None:
    found = project(tmp_path, {"package.json": PACKAGE, "yarn.lock": "", ".yarnrc.yml": ""})
    assert found.setup == ("yarn install --immutable",)


def test_the_placeholder_of_npm_is_no_test(tmp_path: Path) -> None:
    scripts = {"test": 'echo "Error: no test specified" && exit 1'}
    assert project(tmp_path, {"package.json": {"scripts": scripts}}).checks == ()


def test_a_test_script_that_watches_is_left_out_with_a_note(tmp_path: Path) -> None:
    found = project(tmp_path, {"package.json": {"scripts": {"test": "jest --watch"}}})
    assert found.checks == ()
    assert found.notes == ("the test script of package.json watches files and never ends",)


def test_a_test_script_that_watches_outside_of_pipelines_is_told_that_it_is_in_one(tmp_path: Path) -> None:
    assert checks(project(tmp_path, {"package.json": {"scripts": {"test": "react-scripts test"}}})) == {
        "test": "CI=true npm test"
    }


def test_typescript_without_a_script_of_its_own_is_checked_with_the_compiler(tmp_path: Path) -> None:
    package = {"devDependencies": {"typescript": "5"}}
    found = project(tmp_path, {"package.json": package, "tsconfig.json": "{}"})
    assert checks(found) == {"types": "npx tsc --noEmit"}
    assert found.setup == ("npm install --no-package-lock",)


def test_a_broken_package_json_is_said_and_nothing_is_taken_from_it(tmp_path: Path) -> None:
    found = project(tmp_path, {"package.json": "{oops"})
    assert (found.checks, found.notes) == ((), ("package.json is not valid JSON, so it was ignored",))


@pytest.mark.parametrize(
    ("lock", "setup", "before"),
    [
        ("uv.lock", "uv sync", "uv run "),
        ("poetry.lock", "poetry install", "poetry run "),
        ("pdm.lock", "pdm install", "pdm run "),
        ("Pipfile.lock", "pipenv sync --dev", "pipenv run "),
    ],
)
def test_python_tools_run_in_the_environment_of_the_lock_file(
    tmp_path: Path, lock: str, setup: str, before: str
) -> None:
    found = project(tmp_path, {"pyproject.toml": PYPROJECT, lock: ""})
    assert found.setup == (setup,)
    assert checks(found) == {"test": f"{before}pytest", "lint": f"{before}ruff check .", "types": f"{before}mypy"}


def test_extras_that_hold_the_tools_are_installed_too(tmp_path: Path) -> None:
    extras = '[project]\nname = "a"\n[project.optional-dependencies]\ntests = ["pytest"]\ndocs = ["sphinx"]\n'
    assert project(tmp_path, {"pyproject.toml": extras, "uv.lock": ""}).setup == ("uv sync --extra tests",)


def test_plain_pip_gets_an_environment_of_its_own_where_git_ignores_it(tmp_path: Path) -> None:
    found = project(tmp_path, {"requirements.txt": "flask\n", "requirements-dev.txt": "pytest==8\nmypy\n"}, ".venv")
    assert found.setup == (
        "python3 -m venv .venv",
        ".venv/bin/python -m pip install -q -r requirements.txt -r requirements-dev.txt",
    )
    assert checks(found) == {"test": ".venv/bin/python -m pytest", "types": ".venv/bin/mypy ."}


def test_plain_pip_without_one_uses_the_python_on_the_path_and_says_so(tmp_path: Path) -> None:
    found = project(tmp_path, {"requirements.txt": "pytest\n", "setup.cfg": "[flake8]\nmax-line-length = 100\n"})
    assert checks(found) == {"test": "python3 -m pytest", "lint": "flake8"}
    assert found.setup == ()
    assert found.notes == ("no lock file and no ignored .venv: Python checks use the Python on your PATH",)


@pytest.mark.parametrize("name", ["pytest.ini", "conftest.py", "tests/conftest.py"])
def test_a_file_of_pytest_is_evidence_enough(tmp_path: Path, name: str) -> None:
    assert checks(project(tmp_path, {name: "", "setup.py": ""})) == {"test": "python3 -m pytest"}


def test_a_dependency_that_only_looks_like_pytest_is_no_evidence(tmp_path: Path) -> None:
    assert project(tmp_path, {"requirements.txt": "pytest-of-something\nnot.pytest\nmypytest\n"}).checks == ()


def test_tests_of_the_standard_library_need_nothing_else(tmp_path: Path) -> None:
    found = project(tmp_path, {"tests/test_shop.py": "import unittest\n"})
    assert checks(found) == {"test": "python3 -m unittest discover -s tests"}


def test_tox_runs_the_tests_where_nothing_else_is_known(tmp_path: Path) -> None:
    assert checks(project(tmp_path, {"tox.ini": "[testenv]\ncommands = nose\n"})) == {"test": "tox"}


def test_cargo_tests_a_package_and_clippy_needs_evidence(tmp_path: Path) -> None:
    assert checks(project(tmp_path, {"Cargo.toml": '[package]\nname = "a"\n'})) == {"test": "cargo test"}
    clippy = "cargo clippy --all-targets -- -D warnings"
    pipeline = {".github/workflows/ci.yml": "run: cargo clippy\n"}
    assert checks(project(tmp_path, pipeline)) == {"test": "cargo test", "lint": clippy}


def test_a_cargo_workspace_is_tested_as_a_whole(tmp_path: Path) -> None:
    manifest = '[workspace]\nmembers = ["a"]\n[workspace.lints.clippy]\nall = "warn"\n'
    assert checks(project(tmp_path, {"Cargo.toml": manifest})) == {
        "test": "cargo test --workspace",
        "lint": "cargo clippy --workspace --all-targets -- -D warnings",
    }


def test_a_go_module_is_tested_and_vetted(tmp_path: Path) -> None:
    assert checks(project(tmp_path, {"go.mod": "module a\n"})) == {"test": "go test ./...", "lint": "go vet ./..."}


def test_a_go_linter_that_is_configured_goes_before_vet(tmp_path: Path) -> None:
    found = project(tmp_path, {"go.mod": "module a\n", ".golangci.yml": ""})
    assert checks(found)["lint"] == "golangci-lint run ./..."


def test_the_modules_of_a_go_workspace_are_named_one_by_one(tmp_path: Path) -> None:
    work = "go 1.22\nuse (\n\t./api // the server\n\t./lib\n\t../outside\n)\nuse ./cmd\n"
    assert checks(project(tmp_path, {"go.work": work}))["test"] == "go test ./api/... ./lib/... ./cmd/..."
