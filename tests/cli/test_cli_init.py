"""`handrail init`: what it says, what it tries, what it writes and trusts, and what it leaves alone."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from fresh import GREEN, NOTHING, RED, Fresh
from inline_snapshot import snapshot
from running import MASKS


def said(output: str) -> str:
    """Mask times."""
    for pattern, word in MASKS:
        output = pattern.sub(word, output)
    return re.sub(r"\d+(\.\d)? s\b", "0 s", output)


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
Agent       claude/sonnet, access edit          change in .handrail/config.toml
Checks      test: make test   lint: make lint
Worktrees   copy: .env          (a new worktree has none)
Note        fix-bug proves bugs with pytest; for other tests change fails: and
            passes: in its workflow.yaml
Trying it   worktree 0 s, make test 0 s ✓, make lint 0 s ✓ green on main
Wrote       .handrail/config.toml, .handrail/workflows/fix-bug/
            (trusted: you wrote them)
Next        handrail run fix-bug "what is broken"
""")
    assert fresh.config() == snapshot("""\
# How Handrail works in this repository. Written by `handrail init`, yours to change.
# After a change: handrail trust .handrail/config.toml

[agent]
# The agent of steps that name none.
default = "claude/sonnet"

[checks]
# Commands that must pass; `checks: project` in a workflow runs them all.
test = "make test"
lint = "make lint"

[worktrees]
# Runs work in fresh worktrees: what makes one ready, and ignored files to copy there.
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
Worktrees   nothing to set up, nothing to copy
Note        fix-bug proves bugs with pytest; for other tests change fails: and
            passes: in its workflow.yaml
Trying it   worktree 0 s, make test 0 s ✗, make lint 0 s ✓
            test is red on main: exit 2
              1 failed
              make: *** [Makefile:2: test] Error 1
Left out    test: make test (red on main)
Wrote       .handrail/config.toml, .handrail/workflows/fix-bug/
            (trusted: you wrote them)
Next        handrail run fix-bug "what is broken"
""")
    assert tomllib.loads(fresh.config())["checks"] == {"lint": "make lint"}
    assert '# left out by handrail init, red on main: test = "make test"\n' in fresh.config()
    assert fresh.traces() == NOTHING


def test_a_python_repository_is_tried_with_its_own_tests(fresh: Fresh) -> None:
    fresh.commit(
        **{"pyproject.toml": "[tool.pytest.ini_options]\n", "test_shop.py": "def test_it():\n    assert True\n"}
    )
    found = fresh.shop.json("init", "--yes")
    assert found["checks"] == {"test": "python3 -m pytest"}
    assert [each["outcome"] for each in found["tried"]] == ["green", "green"]
    workflow = (fresh.root / ".handrail/workflows/fix-bug/workflow.yaml").read_text("utf-8")
    assert workflow.count(': python3 -m pytest -q "${repro.test}"') == 2
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
            "worktrees": {"setup": [], "copy": []},
            "left_out": [],
            "notes": [
                "fix-bug proves bugs with pytest; for other tests change fails: and passes: in its workflow.yaml"
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
    assert tomllib.loads(fresh.config())["checks"] == {"test": "make test"}
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
    assert tomllib.loads(fresh.config()) == {"agent": {}, "checks": {}, "worktrees": {}}
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


def test_calling_it_again_adds_what_is_missing_and_keeps_every_byte(fresh: Fresh) -> None:
    mine = '# ours\n[checks]\nunit = "make test"   # fast\n\n# money\n[budget]\nusd = 2\n'
    fresh.commit(**{"Makefile": GREEN, ".handrail/config.toml": mine})
    fresh.shop.workflow("fix-bug", "name: NAME\nsteps:\n  - {name: one, command: 'true'}\n")
    workflow = (fresh.root / ".handrail/workflows/fix-bug/workflow.yaml").read_bytes()
    assert fresh.shop.call("trust", ".handrail/config.toml", "--yes").exit_code == 0
    result = fresh.init()
    assert result.exit_code == 0, result.output
    assert "unit: make test   lint: make lint (new)" in result.output
    assert fresh.config() == mine.replace("# fast\n", '# fast\nlint = "make lint"\n')
    assert (fresh.root / ".handrail/workflows/fix-bug/workflow.yaml").read_bytes() == workflow
    assert fresh.shop.json("trust", ".handrail/config.toml", "--show")["trusted"]
    assert not fresh.shop.json("trust", "fix-bug", "--show")["trusted"]
    assert "nothing: everything is there already" in fresh.init().output


def test_what_was_never_trusted_is_neither_run_nor_trusted(fresh: Fresh) -> None:
    hostile = f'[checks]\ntest = "touch {fresh.root}/hacked"\n[worktrees]\nsetup = ["touch {fresh.root}/hacked"]\n'
    fresh.commit(**{"Makefile": GREEN, ".handrail/config.toml": hostile})
    found = fresh.shop.json("init", "--yes")
    assert not (fresh.root / "hacked").exists()
    assert found["checks"] == {"lint": "make lint"}
    assert {each["path"]: each["trusted"] for each in found["wrote"]} == {
        ".handrail/config.toml": False,
        ".handrail/workflows/fix-bug/": True,
    }
    assert found["next"] == "handrail trust .handrail/config.toml"
    assert not fresh.shop.json("trust", ".handrail/config.toml", "--show")["trusted"]


def test_files_of_others_beside_the_configuration_are_not_trusted_with_it(fresh: Fresh) -> None:
    fresh.commit(**{"Makefile": GREEN, ".handrail/prompts/x.md": "Do evil.\n"})
    wrote = {each["path"]: each["trusted"] for each in fresh.shop.json("init", "--yes")["wrote"]}
    assert wrote[".handrail/config.toml"] is False


def test_a_check_that_a_person_commented_out_stays_so(fresh: Fresh) -> None:
    mine = '[checks]\ntest = "make test"\n# lint = "make lint"\n'
    fresh.commit(**{"Makefile": GREEN, ".handrail/config.toml": mine})
    fresh.init()
    assert fresh.config() == mine


def test_a_configuration_that_cannot_be_read_is_shown_and_left_alone(fresh: Fresh) -> None:
    fresh.commit(**{"Makefile": GREEN, ".handrail/config.toml": "[checks\n"})
    result = fresh.init()
    assert result.exit_code == 4
    assert "next: mend it, then: handrail init" in result.output
    assert fresh.config() == "[checks\n"


def test_a_link_out_of_the_repository_is_refused(fresh: Fresh, tmp_path: Path) -> None:
    fresh.commit(Makefile=GREEN)
    (tmp_path / "elsewhere").mkdir()
    (fresh.root / ".handrail").symlink_to(tmp_path / "elsewhere")
    assert fresh.init().exit_code == 2
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_hostile_names_are_written_as_text_and_never_run(fresh: Fresh) -> None:
    for folder in ("$(touch hacked)", 'a"b', "it's; touch hacked"):
        fresh.shop.write(f"{folder}/Makefile", "test:\n\t@echo ok\n")
    for name in ('.env.a"b', ".env.$(touch hacked)", ".env.x\ny", ".env.ok"):
        fresh.shop.write(name, "A=1\n")
    fresh.commit(**{".gitignore": ".env*\n"})
    found = fresh.shop.json("init", "--yes")
    assert [each["outcome"] for each in found["tried"]] == ["green"] * 4
    assert tomllib.loads(fresh.config())["checks"] == found["checks"]
    assert found["worktrees"]["copy"] == [".env.ok"]
    assert not list(fresh.root.rglob("hacked"))


def test_an_empty_repository_with_a_commit_says_that_it_found_no_checks(fresh: Fresh) -> None:
    fresh.commit()
    result = fresh.init()
    assert result.exit_code == 0, result.output
    assert said(result.output) == snapshot("""\
Repository  shop, default branch main
Agent       none found: install claude, codex, gemini or opencode, then run
            handrail init again
Checks      none found. Name yours under [checks] in .handrail/config.toml, such
            as test = "./run-tests"
Worktrees   nothing to set up, nothing to copy
Trying it   worktree 0 s (there is no check to try)
Wrote       .handrail/config.toml, .handrail/workflows/fix-bug/
            (trusted: you wrote them)
Next        name your checks in .handrail/config.toml, then: handrail run
            fix-bug "what is broken"
""")


def test_a_repository_without_a_commit_is_told_to_make_one(fresh: Fresh) -> None:
    result = fresh.init()
    assert result.exit_code == 1
    assert 'git add -A && git commit --allow-empty -m "Start", then: handrail init' in result.output


def test_a_folder_that_is_no_repository_and_a_bare_one_say_what_to_do(
    fresh: Fresh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain").mkdir()
    monkeypatch.chdir(tmp_path / "plain")
    assert "is not inside a git repository" in fresh.init().output
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "bare")], check=True)
    monkeypatch.chdir(tmp_path / "bare")
    assert "is a bare repository" in fresh.init().output


def test_a_linked_worktree_is_a_repository_like_any_other(
    fresh: Fresh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh.commit(Makefile=GREEN)
    fresh.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    monkeypatch.chdir(tmp_path / "side")
    result = fresh.init()
    assert result.exit_code == 0, result.output
    assert "runs start from side, which is checked out" in result.output
    assert (tmp_path / "side" / ".handrail" / "config.toml").is_file()
    assert not (fresh.root / ".handrail").exists()


def test_a_folder_inside_the_repository_means_the_repository(fresh: Fresh, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh.commit(**{"Makefile": GREEN, "src/a.txt": ""})
    monkeypatch.chdir(fresh.root / "src")
    assert fresh.init().exit_code == 0
    assert fresh.config()


def test_the_work_tree_of_a_run_is_refused(fresh: Fresh, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh.commit(Makefile=GREEN)
    inside = fresh.shop.home / "data" / "worktrees" / "x"
    inside.parent.mkdir(parents=True)
    fresh.git("worktree", "add", "-q", "--detach", str(inside))
    monkeypatch.chdir(inside)
    result = fresh.init()
    assert result.exit_code == 2
    assert "is the work tree of a run" in result.output


def test_a_detached_head_is_named_by_its_commit(fresh: Fresh) -> None:
    fresh.commit(Makefile=GREEN)
    fresh.git("checkout", "-q", "--detach")
    found = fresh.shop.json("init", "--yes")
    assert found["branch"] == "main"
    assert [each["outcome"] for each in found["tried"]] == ["green"] * 3


def test_what_was_written_is_used_by_a_run(fresh: Fresh) -> None:
    fresh.commit(Makefile=GREEN)
    assert fresh.init().exit_code == 0
    fresh.shop.workflow("gate", "name: NAME\nsteps:\n  - {name: all, type: gate, checks: project}\n")
    assert fresh.shop.call("trust", "gate", "--yes").exit_code == 0
    result = fresh.shop.call("run", "gate", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["status"] == "succeeded"


SCRIPTED = '[agent]\ndefault = "scripted"\n'
ASKS = "name: NAME\nsteps:\n  - {name: work, prompt: 'Do the work now, please.'WHO}\n"


@pytest.mark.parametrize(
    ("who", "said"),
    [("", "the scripted agent plays a script"), (", agent: claude", "the agent 'claude' is not installed")],
)
def test_the_agent_of_the_configuration_is_that_of_steps_that_name_none(fresh: Fresh, who: str, said: str) -> None:
    fresh.commit(**{".handrail/config.toml": SCRIPTED})
    fresh.shop.workflow("ask", ASKS.replace("WHO", who))
    for what in (".handrail/config.toml", "ask"):
        assert fresh.shop.call("trust", what, "--yes").exit_code == 0
    result = fresh.shop.call("run", "ask")
    assert result.exit_code == 2, result.output
    assert said in result.output
