"""Several kinds in one repository, packages below the root, and files that somebody hostile wrote."""

import json
import os
import shlex
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.errors import UsageError
from handrail.model.workflow.settings import Project as Fixed
from handrail.operations.init.config_text import (
    OmittedCommand,
    Settings,
    add_settings,
    assignment,
    drop_failed_checks,
    is_put_aside,
    render_settings,
)
from handrail.sources.projects.detect import detect
from support.sources.projects import PACKAGE, PYPROJECT, checks, project


def test_a_makefile_goes_first_and_the_others_fill_what_it_lacks(tmp_path: Path) -> None:
    found = project(tmp_path, {"Makefile": "test:\n\ttrue\n", "pyproject.toml": PYPROJECT, "uv.lock": ""})
    assert checks(found) == {"test": "make test", "lint": "uv run ruff check .", "types": "uv run mypy"}
    assert found.setup == ("uv sync",)


def test_two_languages_at_the_root_both_have_their_checks(tmp_path: Path) -> None:
    found = project(tmp_path, {"package.json": PACKAGE, "pyproject.toml": PYPROJECT, "uv.lock": ""})
    assert checks(found) == {
        "test": "npm test",
        "test-python": "uv run pytest",
        "lint": "npm run lint",
        "lint-python": "uv run ruff check .",
        "types": "uv run mypy",
        "build": "npm run build",
    }


def test_packages_below_a_root_without_checks_are_combined(tmp_path: Path) -> None:
    files = {"web/package.json": PACKAGE, "web/package-lock.json": "{}", "services/api/go.mod": "module a\n"}
    found = project(tmp_path, {**files, "node_modules/x/package.json": PACKAGE})
    assert checks(found) == {
        "test-web": "cd web && npm test",
        "test-services-api": "cd services/api && go test ./...",
        "lint-web": "cd web && npm run lint",
        "lint-services-api": "cd services/api && go vet ./...",
        "build-web": "cd web && npm run build",
    }
    assert found.setup == ("cd web && npm ci",)
    assert found.notes[0] == "nothing at the root; packages found in web, services/api"


def test_a_root_with_checks_is_taken_and_the_packages_below_are_named(tmp_path: Path) -> None:
    found = project(tmp_path, {"Makefile": "test:\n\ttrue\n", "web/package.json": PACKAGE, "api/go.mod": "module a\n"})
    assert checks(found) == {"test": "make test"}
    assert found.notes == ("the checks of the root are used; there are also packages in api, web",)


@pytest.mark.parametrize(
    ("files", "command"),
    [
        (
            {"package.json": {"workspaces": ["packages/*"]}, "package-lock.json": "{}"},
            "npm run test --workspaces --if-present",
        ),
        ({"package.json": {"workspaces": {"packages": ["packages/*"]}}, "yarn.lock": ""}, "yarn workspaces run test"),
        (
            {
                "package.json": {"name": "a"},
                "pnpm-lock.yaml": "",
                "pnpm-workspace.yaml": "packages:\n  - 'packages/*'\n",
            },
            "pnpm -r --if-present run test",
        ),
    ],
)
def test_scripts_of_a_node_workspace_run_in_every_package(
    tmp_path: Path, files: dict[str, object], command: str
) -> None:
    members = {"packages/a/package.json": {"scripts": {"test": "vitest"}}, "packages/b/package.json": {}}
    assert checks(project(tmp_path, {**files, **members})) == {"test": command}


def test_many_packages_are_bounded_and_the_rest_is_named(tmp_path: Path) -> None:
    found = project(tmp_path, {f"p{number:02}/go.mod": "module a\n" for number in range(10)})
    assert len(found.checks) == 16
    assert "left out; add them if you need them: p08, p09" in found.notes


@pytest.mark.parametrize("name", ["a b", "it's", '"quoted"', "$(touch hacked)", "-rf", "ünï", "semi;colon"])
def test_a_folder_of_any_name_stays_one_word_of_the_shell(tmp_path: Path, name: str) -> None:
    found = project(tmp_path, {f"{name}/go.mod": "module a\n"})
    command = next(iter(checks(found).values()))
    folder = shlex.split(command)[1]
    assert (tmp_path / folder).samefile(tmp_path / name)
    assert tomllib.loads(render_settings(Settings(checks=tuple(checks(found).items()))))["checks"] == checks(found)


def test_a_folder_with_a_line_break_in_its_name_is_not_looked_into(tmp_path: Path) -> None:
    assert project(tmp_path, {'a\n[trust]\nx = "y/go.mod': "module a\n"}).checks == ()


def test_members_outside_the_repository_are_not_looked_into(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "repo"
    (outside / "a").mkdir(parents=True)
    (outside / "a" / "package.json").write_text(json.dumps(PACKAGE), "utf-8")
    root.mkdir()
    (root / "link").symlink_to(outside)
    package = {"workspaces": ["../outside/*", "link/*", str(outside), "/etc/*", "**", "[", "", 7]}
    assert project(root, {"package.json": package}).checks == ()


@pytest.mark.parametrize("name", ["Makefile", "package.json", "pyproject.toml", "Cargo.toml", "go.work", "tox.ini"])
def test_files_that_cannot_be_read_are_no_evidence(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\xff\xfe test:\n[tool.pytest]")
    assert {check.command for check in detect(tmp_path).checks} <= {"cargo test"}
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    assert detect(tmp_path).checks == ()


@given(st.text(max_size=400), st.sampled_from(["Makefile", "package.json", "pyproject.toml", "go.work", "tox.ini"]))
def test_no_content_of_a_file_stops_the_search(tmp_path_factory: pytest.TempPathFactory, text: str, name: str) -> None:
    root = tmp_path_factory.mktemp("repo")
    (root / name).write_text(text, "utf-8", newline="", errors="replace")
    assert all(check.command.strip() for check in detect(root).checks)


FRESH = Settings("claude/sonnet", (("lint", "make lint"),), ("npm ci",), (".env",))


def test_keys_are_added_at_the_end_of_their_table_and_nothing_else_changes() -> None:
    text = '# mine\n[checks] # all\ntest = "make test" # slow\n\n# about budgets\n[budget]\nusd = 3'
    assert add_settings(text, FRESH) == (
        '# mine\n[checks] # all\ntest = "make test" # slow\nlint = "make lint"\n\n# about budgets\n[budget]\nusd = 3\n'
        '\n[agent]\ndefault = "claude/sonnet"\n\n[worktrees]\nsetup = ["npm ci"]\ncopy = [".env"]\n'
    )


def test_line_endings_of_the_file_are_kept() -> None:
    made = add_settings('[checks]\r\ntest = "a"\r\n', Settings(checks=(("lint", "b"),)))
    assert made == '[checks]\r\ntest = "a"\r\nlint = "b"\r\n'


@pytest.mark.parametrize(
    "text",
    [
        'checks = { test = "make test" }\n',
        'checks.test = "make test"\n',
        'x = """\n[checks]\n"""\n[agent]\ndefault = "a"\n',
    ],
)
def test_a_form_that_cannot_be_added_to_is_refused_with_what_to_add(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        add_settings(text, Settings(checks=(("lint", "make lint"),)))
    assert caught.value.next_step == 'add by hand: [checks] lint = "make lint"'


def test_a_check_that_was_left_out_comes_back_when_it_is_green() -> None:
    left = Settings(left_out=(OmittedCommand("checks", "lint", "make lint", "red on main"),))
    first = add_settings('[checks]\ntest = "t"\n', left)
    assert first == '[checks]\ntest = "t"\n# left out by handrail init, red on main: lint = "make lint"\n'
    assert add_settings(first, left) == first
    assert drop_failed_checks(first, FRESH).checks == ()
    assert add_settings(first, Settings(checks=FRESH.checks)) == '[checks]\ntest = "t"\nlint = "make lint"\n'


def test_what_a_person_commented_out_is_seen() -> None:
    assert is_put_aside('[checks]\n  #lint = "x"\n', "lint")
    assert not is_put_aside(render_settings(Settings()), "test")


@given(st.text(min_size=1), st.text(), st.lists(st.text(), min_size=1))
def test_whatever_is_written_is_read_back_as_it_was(name: str, command: str, copied: list[str]) -> None:
    texts = ["".join(text).encode("utf-8", "replace").decode() for text in (name, command)]
    copies = tuple(text.encode("utf-8", "replace").decode() for text in copied)
    settings = Settings("a", ((texts[0], texts[1]),), (), copies, project=Fixed(default_branch="main"))
    read = tomllib.loads(render_settings(settings))
    assert read["checks"] == {texts[0]: texts[1]}
    assert tuple(read["worktrees"]["copy"]) == copies
    assert tomllib.loads(add_settings("# old\n", settings)) == read


def test_a_key_that_is_not_plain_is_quoted() -> None:
    assert assignment('a "b"\n', "c") == '"a \\"b\\"\\n" = "c"'
