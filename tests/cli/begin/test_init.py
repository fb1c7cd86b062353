"""`handrail init`: what it finds, tries, says and writes."""

import tomllib
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from support.cli.fresh import GREEN, NOTHING, RED, Fresh, said


def test_a_green_makefile_is_found_tried_written_and_trusted(fresh: Fresh) -> None:
    fresh.program("claude")
    fresh.commit(Makefile=GREEN, __gitignore=".env\n")
    fresh.shop.write(".env", "KEY=1\n")
    fresh.shop.write("notes.txt", "mine\n")
    result = fresh.init()
    assert result.exit_code == 0, result.output
    assert said(result.output) == snapshot("""\
Repository  shop, default branch main,
            1 uncommitted file (runs start from the last commit)
Agent       claude, access edit          change in .handrail/config.toml
Checks      test: make test   lint: make lint
One test    make test FILE="$FILE"
Sources     **, !**/{test,tests,spec,specs,__tests__,testdata}/**,
            !**/*{test,spec,Test,Spec}*
Worktrees   copy: .env          (in each new worktree)
Note        make test FILE="$FILE" runs all tests; if a single file can be run,
            configure it in [checks.test_one]
Trying it   worktree 0 s, make test 0 s ✓, make lint 0 s ✓ green on main
Wrote       .handrail/config.toml, .handrail/workflows/fix-bug/
            (trusted: you wrote them)
Next        handrail run fix-bug "what is broken"
""")
    assert fresh.config() == snapshot("""\
# How Handrail works in this repository. Written by `handrail init`; edit it as you like.
# After a change: handrail trust .handrail/config.toml

[project]
# Where the product's code is, which branch work goes to, and how packages are listed and updated.
sources = ["**", "!**/{test,tests,spec,specs,__tests__,testdata}/**", "!**/*{test,spec,Test,Spec}*"]
default_branch = "main"

[agent]
# The agent for steps that do not name one. NAME uses the agent's own model; NAME/MODEL chooses one.
default = "claude"

[checks]
# Commands that must pass; `checks: project` in a workflow runs them all.
test = "make test"
lint = "make lint"

[checks.test_one]
# Runs the tests of $FILE. The other keys tell a failing test from one that does not compile.
command = "make test FILE=\\"$FILE\\""
failed = [2]

[worktrees]
# Runs work in fresh worktrees: commands that set one up, and ignored files to copy there.
copy = [".env"]
""")
    assert fresh.traces() == NOTHING
    assert sorted(path.name for path in fresh.root.iterdir()) == [
        ".env",
        ".git",
        ".gitignore",
        ".handrail",
        "Makefile",
        "notes.txt",
    ]
    for what in (".handrail/config.toml", "fix-bug"):
        assert fresh.shop.json("trust", what, "--show")["trusted"]
    assert fresh.shop.call("validate", "fix-bug").exit_code == 0


def test_a_red_check_is_shown_with_its_output_and_left_out(fresh: Fresh) -> None:
    fresh.commit(Makefile=RED)
    result = fresh.init()
    assert result.exit_code == 0, result.output
    assert said(result.output) == snapshot("""\
Repository  shop, default branch main
Agent       none found: install claude, codex, gemini or opencode, then run
            handrail init again
Checks      test: make test   lint: make lint
One test    make test FILE="$FILE"
Sources     **, !**/{test,tests,spec,specs,__tests__,testdata}/**,
            !**/*{test,spec,Test,Spec}*
Worktrees   nothing to set up, nothing to copy
Note        make test FILE="$FILE" runs all tests; if a single file can be run,
            configure it in [checks.test_one]
Trying it   worktree 0 s, make test 0 s ✗, make lint 0 s ✓
            test is red on main: exit 2
              1 failed
              make: *** [Makefile:2: test] Error 1
Left out    test: make test (red on main)
Wrote       .handrail/config.toml, .handrail/workflows/fix-bug/
            (trusted: you wrote them)
Next        test was left out and runs will not check it; fix that and run
            handrail init again, or: handrail run fix-bug "what is broken"
""")
    checks = tomllib.loads(fresh.config())["checks"]
    assert checks == {"lint": "make lint", "test_one": {"command": 'make test FILE="$FILE"', "failed": [2]}}
    assert '# left out by handrail init, red on main: test = "make test"\n' in fresh.config()
    assert fresh.traces() == NOTHING


def test_a_python_repository_is_tried_with_its_own_tests(fresh: Fresh) -> None:
    fresh.commit(
        **{"pyproject.toml": "[tool.pytest.ini_options]\n", "test_shop.py": "def test_it():\n    assert True\n"}
    )
    found = fresh.shop.json("init", "--yes")
    assert found["checks"] == {"test": "python3 -m pytest"}
    assert [each["outcome"] for each in found["tried"]] == ["green", "green"]
    assert found["test_one"] == {"command": "python3 -m pytest -q", "failed": [1], "failed_when": None}
    assert fresh.shop.json("trust", "fix-bug", "--show")["trusted"]
    fresh.commit(**{"test_shop.py": "def test_it():\n    assert 1 == 2\n"})
    again = fresh.shop.json("init", "--yes")
    assert again["tried"][1]["outcome"] == "red"
    assert "assert 1 == 2" in again["tried"][1]["output"]
    assert again["wrote"] == []


def test_json_is_one_document_with_everything(fresh: Fresh) -> None:
    fresh.program("codex")
    fresh.commit(Makefile=GREEN)
    found = fresh.shop.json("init", "--yes")
    assert found.pop("repository") == str(fresh.root)
    for each in found["tried"]:
        assert each.pop("seconds") >= 0
    assert found == snapshot(
        {
            "branch": "main",
            "uncommitted": [],
            "agent": "codex",
            "agents": ["codex"],
            "checks": {"test": "make test", "lint": "make lint"},
            "test_one": {"command": 'make test FILE="$FILE"', "failed": [2], "failed_when": None},
            "project": {
                "sources": ["**", "!**/{test,tests,spec,specs,__tests__,testdata}/**", "!**/*{test,spec,Test,Spec}*"],
                "default_branch": "main",
                "outdated": None,
                "update": None,
            },
            "worktrees": {"setup": [], "copy": []},
            "left_out": [],
            "notes": [
                'make test FILE="$FILE" runs all tests; if a single file can be run, configure it in [checks.test_one]'
            ],
            "tried": [
                {"name": "worktree", "command": None, "outcome": "green", "why": None, "output": None},
                {
                    "name": "test",
                    "command": "make test",
                    "outcome": "green",
                    "why": None,
                    "output": None,
                },
                {
                    "name": "lint",
                    "command": "make lint",
                    "outcome": "green",
                    "why": None,
                    "output": None,
                },
            ],
            "wrote": [
                {"path": ".handrail/config.toml", "trusted": True},
                {"path": ".handrail/workflows/fix-bug/", "trusted": True},
            ],
            "next": 'handrail run fix-bug "what is broken"',
        }
    )


@pytest.mark.parametrize("args", [(), ("--json",)])
def test_without_a_terminal_and_without_yes_nothing_is_tried_or_written(fresh: Fresh, args: tuple[str, ...]) -> None:
    fresh.commit(Makefile="test:\n\ttouch " + str(fresh.root / "ran") + "\n")
    result = fresh.shop.call("init", *args)
    assert result.exit_code == 2
    assert "handrail init --yes" in result.output
    assert not (fresh.root / ".handrail").exists()
    assert not (fresh.root / "ran").exists()


def test_no_try_runs_nothing(fresh: Fresh) -> None:
    fresh.commit(Makefile="test:\n\ttouch " + str(fresh.root / "ran") + "\n")
    result = fresh.init("--no-try")
    assert result.exit_code == 0, result.output
    assert "not tried (--no-try)" in result.output
    assert tomllib.loads(fresh.config())["checks"]["test"] == "make test"
    assert not (fresh.root / "ran").exists()


def test_the_trial_sees_the_last_commit_and_not_the_checkout(fresh: Fresh) -> None:
    fresh.commit(Makefile=GREEN)
    fresh.shop.write("Makefile", RED)
    assert [each["outcome"] for each in fresh.shop.json("init", "--yes")["tried"]] == ["green", "green", "green"]


def test_set_up_and_copied_files_are_there_when_checks_run(fresh: Fresh) -> None:
    fresh.program("npm", '[ "$1" = ci ] && { touch .ready; exit 0; }; test -e .ready && . ./.env && test "$KEY" = 1')
    files = {
        "package.json": '{"scripts": {"test": "vitest"}}',
        "package-lock.json": "{}",
        ".gitignore": ".env\n.ready\n",
    }
    fresh.commit(**files)
    fresh.shop.write(".env", "KEY=1\n")
    found = fresh.shop.json("init", "--yes")
    assert [(each["name"], each["outcome"]) for each in found["tried"]] == [
        ("worktree", "green"),
        ("setup", "green"),
        ("test", "green"),
    ]
    assert tomllib.loads(fresh.config())["worktrees"] == {"setup": ["npm ci"], "copy": [".env"]}


def test_a_set_up_that_fails_stops_the_trial_and_nothing_unproven_is_written(fresh: Fresh) -> None:
    fresh.program("npm", "echo no network >&2; exit 7")
    fresh.commit(**{"package.json": '{"scripts": {"test": "vitest"}}', "package-lock.json": "{}"})
    result = fresh.init()
    assert result.exit_code == 0, result.output
    assert "no network" in result.output
    assert "test was not tried: npm ci failed" in result.output
    config = tomllib.loads(fresh.config())
    assert (config["agent"], list(config["checks"]), config["worktrees"]) == ({}, ["test_one"], {})
    assert 'red on main: setup = ["npm ci"]' in fresh.config()


@pytest.mark.parametrize(
    ("files", "tool", "left_out"),
    [
        ({"Cargo.toml": '[package]\nname = "a"\n'}, "cargo", {"test": "cargo test"}),
        ({"go.mod": "module a\n"}, "go", {"test": "go test ./...", "lint": "go vet ./..."}),
        ({"pyproject.toml": "[tool.pytest]\n", "uv.lock": ""}, "uv", {"setup": "uv sync", "test": "uv run pytest"}),
    ],
)
def test_a_tool_that_is_not_installed_is_said_plainly(
    fresh: Fresh, files: dict[str, str], tool: str, left_out: dict[str, str]
) -> None:
    fresh.commit(**files)
    result = fresh.init()
    assert result.exit_code == 0, result.output
    assert f"cannot run: {tool} is not installed" in result.output
    fresh.git("clean", "-qfd")
    found = fresh.shop.json("init", "--yes")
    assert {each["name"]: each["command"] for each in found["left_out"]} == left_out


def test_a_module_that_python_lacks_is_not_a_red_test(fresh: Fresh) -> None:
    fresh.program("python3", 'echo "/usr/bin/python3: No module named pytest" >&2; exit 1')
    fresh.commit(**{"pytest.ini": "[pytest]\n"})
    assert fresh.shop.json("init", "--yes")["tried"][1]["why"] == "pytest is not installed"


def test_a_target_that_does_nothing_is_not_green(fresh: Fresh) -> None:
    fresh.commit(**{"Makefile": "test:\n", "test/a": ""})
    tried = fresh.shop.json("init", "--yes")["tried"]
    assert (tried[1]["outcome"], tried[1]["why"]) == ("red", "make did nothing; mark the target .PHONY")


def test_a_check_that_takes_too_long_is_ended_with_all_it_started(fresh: Fresh) -> None:
    fresh.commit(Makefile="test:\n\t@sleep 300 & echo $$! > " + str(fresh.root / "pid") + "; wait\n")
    found = fresh.shop.json("init", "--yes", "--timeout", "2")
    assert found["tried"][1]["outcome"] == "took too long"
    assert found["checks"] == {}
    pid = (fresh.root / "pid").read_text().strip()
    state = Path(f"/proc/{pid}/stat")
    assert not state.exists() or ") Z " in state.read_text()
    assert fresh.traces() == NOTHING
