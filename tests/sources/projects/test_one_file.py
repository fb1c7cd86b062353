"""How one test file is run, where the product's code is, and how packages are updated, for each kind of repository."""

import os
import subprocess
from pathlib import Path

import pytest

from handrail.language.patterns.read import pattern_of
from support.sources.projects import project

NODE_CODE = ("!**/*.{test,spec}.*", "!**/{test,tests,__tests__}/**")


@pytest.mark.parametrize(
    ("files", "command", "failed", "shows", "hides"),
    [
        ({"pytest.ini": ""}, "python3 -m pytest -q", (1,), "", ""),
        ({"pyproject.toml": "[tool.pytest]\n", "uv.lock": ""}, "uv run pytest -q", (1,), "", ""),
        ({"pyproject.toml": "[tool.pytest]\n", "poetry.lock": ""}, "poetry run pytest -q", (1,), "", ""),
        ({"tox.ini": "[testenv]\n"}, "tox -q --", (1,), "", ""),
        (
            {"tests/test_a.py": "import unittest\n"},
            "python3 -m unittest",
            (1,),
            "ERROR: test_y (test_good.T.test_y)",
            "ERROR: test_bad (unittest.loader._FailedTest.test_bad)",
        ),
        (
            {"package.json": {"scripts": {"test": "vitest"}}},
            "npx vitest run",
            (),
            "      Tests  1 failed (1)",
            "      Tests  no tests",
        ),
        (
            {"package.json": {"scripts": {"test": "jest"}}, "pnpm-lock.yaml": ""},
            "pnpm exec jest --runTestsByPath",
            (),
            "Tests:       1 failed, 1 total",
            "Tests:       0 total",
        ),
        ({"package.json": {"scripts": {"test": "mocha"}}}, "npx mocha", (), "  1 failing", " Exception during run"),
        ({"package.json": {"scripts": {"test": "ava"}}}, "npx ava", (), "  1 test failed", "  1 uncaught exception"),
        (
            {"package.json": {"scripts": {"test": "node --import tsx --test"}}},
            "node --import tsx --test-reporter=tap",
            (1,),
            "not ok 1 - adds",
            "# not ok",
        ),
        (
            {"package.json": {"scripts": {"test": "bun test"}}, "bun.lock": ""},
            'bun test "./$FILE"',
            (1,),
            "(fail) adds [0.22ms]",
            " 1 fail",
        ),
        ({"package.json": {"devDependencies": {"vitest": "1"}}, "yarn.lock": ""}, "yarn run vitest run", (), "", ""),
        (
            {"pom.xml": "<project/>"},
            'mvn -B test -Dsurefire.failIfNoSpecifiedTests=false -Dtest="$(basename "$FILE" | sed \'s/[.][a-z]*$//\')"',
            (1,),
            "[ERROR] Tests run: 1, Failures: 0, Errors: 1, Skipped: 0",
            "Tests run: 1, Failures: 0, Errors: 0",
        ),
        (
            {"build.gradle": "", "gradlew": ""},
            './gradlew test --tests "$(basename "$FILE" | sed \'s/[.][a-z]*$//\')"',
            (1,),
            "> There were failing tests. See the report",
            "> Compilation failed; see the compiler error output for details.",
        ),
        (
            {"Gemfile": "gem 'rspec'\n", ".rspec": ""},
            "bundle exec rspec",
            (1,),
            "1 example, 1 failure",
            "0 examples, 0 failures, 1 error occurred outside of examples",
        ),
        (
            {"Gemfile": "", "test/a_test.rb": ""},
            "bundle exec ruby -Ilib -Itest",
            (1,),
            "1 runs, 1 assertions, 1 failures, 0 errors, 0 skips",
            "1 runs, 1 assertions, 0 failures, 0 errors, 0 skips",
        ),
        (
            {"composer.json": {"require-dev": {"phpunit/phpunit": "^10"}}},
            "vendor/bin/phpunit",
            (1, 2),
            "Tests: 1, Assertions: 0, Errors: 1.",
            "PHP Parse error:  syntax error",
        ),
        (
            {"App.sln": ""},
            'DOTNET_CLI_UI_LANGUAGE=en dotnet test --filter "FullyQualifiedName~$(basename "$FILE" .cs)"',
            (1,),
            "Failed!  - Failed:     1, Passed:     0",
            "error CS1002: ; expected",
        ),
        ({"Makefile": "test:\n\ttrue\n"}, 'make test FILE="$FILE"', (2,), "", ""),
    ],
)
def test_one_file_is_run_and_a_failing_test_is_told_from_a_broken_one(
    tmp_path: Path, files: dict[str, object], command: str, failed: tuple[int, ...], shows: str, hides: str
) -> None:
    one = project(tmp_path, files).one
    assert one is not None
    assert (one.command, one.failed) == (command, failed)
    if shows:
        assert pattern_of(one.failed_when).has_match(shows)
        assert not pattern_of(one.failed_when).has_match(hides)


@pytest.mark.parametrize(
    ("files", "sources"),
    [
        ({"pytest.ini": "", "src/a.py": ""}, ("src/**",)),
        ({"pytest.ini": "", "shop/__init__.py": "", "tests/__init__.py": "", "setup.py": ""}, ("shop/**",)),
        ({"package.json": {"name": "a"}, "source/a.js": ""}, ("source/**", *NODE_CODE)),
        ({"go.mod": "module a\n"}, ("**/*.go", "!**/*_test.go")),
        ({"Cargo.toml": "[package]\n"}, ("src/**",)),
        ({"Cargo.toml": "[workspace]\n"}, ("**/src/**",)),
        ({"pom.xml": ""}, ("**/src/main/**",)),
        ({"Gemfile": "", "lib/a.rb": "", "app/b.rb": ""}, ("lib/**", "app/**")),
    ],
)
def test_the_products_code_is_found_without_its_tests(
    tmp_path: Path, files: dict[str, object], sources: tuple[str, ...]
) -> None:
    assert project(tmp_path, files).sources[: len(sources)] == sources


def test_where_nothing_shows_it_everything_but_tests_is_the_products_code(tmp_path: Path) -> None:
    assert project(tmp_path, {"Makefile": "test:\n\ttrue\n"}).sources[0] == "**"
    assert project(tmp_path / "empty", {"README.md": ""}).sources == ()


def test_packages_of_one_kind_share_a_check_that_goes_into_their_folders(tmp_path: Path) -> None:
    found = project(tmp_path, {"a/pytest.ini": "", "b/c/pytest.ini": "", "a/src/x.py": ""})
    assert found.one is not None
    assert 'a/*) cd a && FILE="${FILE#a/}" && python3 -m pytest -q "$FILE";;' in found.one.command
    assert "b/c/*)" in found.one.command
    assert "a/src/**" in found.sources


def test_a_folder_whose_name_a_shell_would_read_has_no_check_of_single_files(tmp_path: Path) -> None:
    assert project(tmp_path, {"$(touch x)/pytest.ini": ""}).one is None


@pytest.mark.parametrize(
    ("files", "known"),
    [
        ({"package.json": {"name": "a"}}, True),
        ({"package.json": {"name": "a"}, "yarn.lock": "", ".yarnrc.yml": ""}, False),
        ({"go.mod": "module a\n"}, True),
        ({"Cargo.toml": "[package]\n"}, True),
        ({"pyproject.toml": "", "uv.lock": ""}, True),
        ({"pytest.ini": ""}, False),
        ({"build.gradle": ""}, False),
        ({"Makefile": "test:\n\ttrue\n"}, False),
    ],
)
def test_packages_are_listed_and_updated_where_the_tool_can(
    tmp_path: Path, files: dict[str, object], known: bool
) -> None:
    found = project(tmp_path, files)
    assert (bool(found.outdated), bool(found.update)) == (known, known)


LISTS = [
    (
        {"Cargo.toml": "[package]\n"},
        "cargo",
        "    Updating itoa v1.0.1 -> v1.0.11 (available: v2.0.0)",
        0,
        "itoa 1.0.1 1.0.11",
    ),
    ({"Gemfile": ""}, "bundle", "rack (newest 2.2.8, installed 2.2.3, requested ~> 2.2)", 1, "rack 2.2.3 2.2.8"),
    ({"pom.xml": ""}, "mvn", "[INFO]   junit:junit ............. 4.12 -> 4.13.2", 0, "junit:junit 4.12 4.13.2"),
    ({"a.csproj": ""}, "dotnet", "   > Newtonsoft.Json   12.0.1   12.0.1   13.0.3", 0, "Newtonsoft.Json 12.0.1 13.0.3"),
    ({"go.mod": "module a\n"}, "go", "\na/b v1.0.0 v1.2.0\n", 0, "a/b v1.0.0 v1.2.0"),
]


@pytest.mark.parametrize(("files", "program", "prints", "code", "line"), LISTS)
def test_what_a_package_manager_prints_becomes_a_line_for_each_package(
    tmp_path: Path, files: dict[str, object], program: str, prints: str, code: int, line: str
) -> None:
    found = project(tmp_path / "repo", files)
    listed = _listing(tmp_path, found.outdated, program, f"cat <<'END'\n{prints}\nEND\nexit {code}")
    assert (listed.returncode, listed.stdout) == (0, f"{line}\n")
    broken = _listing(tmp_path, found.outdated, program, "echo no network >&2; exit 9")
    assert broken.returncode != 0


def _listing(folder: Path, command: str, program: str, script: str) -> "subprocess.CompletedProcess[str]":
    """Run a listing with a program that prints what the real one printed."""
    stands_in = folder / "bin" / program
    stands_in.parent.mkdir(exist_ok=True)
    stands_in.write_text(f"#!/bin/sh\n{script}\n")
    stands_in.chmod(0o755)
    env = {"PATH": f"{stands_in.parent}:{os.environ['PATH']}"}
    return subprocess.run(["sh", "-c", command], cwd=folder, env=env, capture_output=True, text=True, check=False)
