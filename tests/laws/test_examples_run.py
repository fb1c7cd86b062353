"""The workflows that the format is explained with, run by the scripted agent in real repositories."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from handrail.model.history.events import RoundEnded
from handrail.model.workflow.settings import Project
from handrail.operations.views.run_tree import family
from support.runtime.room import of_kind
from support.runtime.steps_room import StepsRoom, git

HANDRAIL = str(Path(sys.executable).parent / "handrail")
NOTHING: dict[str, Any] = {"output": {"findings": []}}


def finding(rule: str, severity: str = "high") -> dict[str, Any]:
    return {"file": "src/total.py", "line": 1, "rule": rule, "severity": severity, "message": f"it breaks {rule}"}


def tools(shop: StepsRoom, monkeypatch: pytest.MonkeyPatch, **scripts: str) -> Path:
    """Put programs before all others on the search path."""
    folder = shop.folder / "bin"
    folder.mkdir()
    for name, text in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


BUGGY = "def total(numbers):\n    return len(numbers)\n"
MENDED = "def total(numbers):\n    return sum(numbers)\n"
TEST = 'import runpy\n\n\ndef test_total():\n    assert runpy.run_path("src/total.py")["total"]([1, 3]) == {}\n'
REPRO = {"test": "tests/test_total.py", "cause": "it counts"}
FIX_BUG: dict[str, Any] = {
    "reproduce": [
        {
            "expect_prompt": ["the total is wrong"],
            "files": {"tests/test_total.py": TEST.format(2)},
            "output": {**REPRO, "confidence": "high"},
        },
        {
            "expect_prompt": ["Try 2 of 3", "pytest -q"],
            "files": {"tests/test_total.py": TEST.format(4)},
            "output": {**REPRO, "confidence": "medium"},
        },
        {
            "expect_prompt": ["say more about the cause"],
            "output": {**REPRO, "cause": "it counts, and should add", "confidence": "medium"},
        },
    ],
    "fix": {
        "expect_prompt": ["Make `tests/test_total.py` pass"],
        "files": {"src/total.py": MENDED},
        "say": "Added up.",
        "usage": {"input_tokens": 100, "output_tokens": 10, "cost": 0.01},
    },
    "checks/fix": {"expect_prompt": ["notes"], "files": {"NOTES.md": "mended\n"}, "say": "Noted."},
}


class Terminal:
    """The command line in a repository, each command a process of its own."""

    def __init__(self, shop: StepsRoom) -> None:
        self.repo = shop.repo
        self.environ = {**os.environ, "HANDRAIL_HOME": str(shop.folder / "own"), "LOGNAME": "ann", "NO_COLOR": "1"}

    def __call__(self, *words: str, code: int = 0) -> str:
        ran = subprocess.run(
            [HANDRAIL, *words], cwd=self.repo, env=self.environ, capture_output=True, text=True, check=False
        )
        assert ran.returncode == code, f"{words}: exit {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
        return ran.stdout

    def show(self, run: str) -> Any:
        return json.loads(self("status", run, "--json"))["runs"][0]


def test_fix_bug_runs_up_to_its_pull_request(shop: StepsRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    tools(shop, monkeypatch, pytest=f'exec {sys.executable} -m pytest -p no:cacheprovider "$@"')
    config = '[project]\nsources = ["src/**"]\n[checks]\nnotes = "test -e NOTES.md"\n'
    config += '[checks.test_one]\ncommand = "pytest -q"\nfailed = [1]\n'
    for name, text in {"src/total.py": BUGGY, ".handrail/config.toml": config}.items():
        (shop.repo / name).parent.mkdir(exist_ok=True)
        (shop.repo / name).write_text(text)
    git(shop.repo, "add", "-A")
    git(shop.repo, "commit", "-qm", "more")
    script = shop.folder / "script.yaml"
    script.write_text(json.dumps(FIX_BUG))
    call = Terminal(shop)
    call("trust", ".handrail/config.toml", "--yes")
    call("run", "fix-bug", "the total is wrong", "--agent", "scripted", "--script", str(script), code=3)
    waits = call.show("fix-bug-1")
    assert (waits["status"], waits["reason"]) == ("waiting", "approval")
    assert "Cause: it counts (medium)" in call("inbox")
    call("revise", "fix-bug-1", "-m", "say more about the cause", code=3)
    assert "Cause: it counts, and should add (medium)" in call("inbox")
    said = call("approve", "fix-bug-1")
    assert "pr: branch work/fix-bug-1 is ready, not pushed" in said
    assert call.show("fix-bug-1")["status"] == "succeeded"
    assert git(shop.repo, "status", "--porcelain") == ""
    tree = Path(git(shop.repo, "worktree", "list", "--porcelain").split("\n\n")[1].split("\n")[0].split(" ", 1)[1])
    assert git(tree, "branch", "--show-current") == "work/fix-bug-1"
    assert (tree / "src/total.py").read_text() == MENDED
    assert (tree / "NOTES.md").exists()


TASKS = [
    {"id": "base", "title": "The base", "files": ["base.txt"], "acceptance": ["it is there"]},
    {"id": "top", "title": "The top", "files": ["top.txt"], "acceptance": ["it is there"], "depends_on": ["base"]},
    {"id": "side", "title": "The side", "files": ["side.txt"], "acceptance": ["it is there"]},
]
SPLIT: dict[str, Any] = {
    "split": {"expect_prompt": "spec.md", "say": "Three parts.", "output": TASKS},
    "build[base]/implement": {"expect_prompt": "The base", "files": {"base.txt": "base\n", "list.txt": "base\n"}},
    "build[top]/implement": {"run": "cp base.txt top.txt", "say": "Built on the base."},
    "build[side]/implement": {"files": {"side.txt": "side\n", "list.txt": "side\n"}},
    "build[*]/test/fix": {"run": "touch green", "say": "Green."},
    "combine/side/resolve": {"expect_prompt": "list.txt", "files": {"list.txt": "base\nside\n"}},
}
CHECKS = {"green": "test -e green"}


def test_implement_spec_builds_merges_and_reviews_up_to_its_pull_request(shop: StepsRoom) -> None:
    shop.checks = CHECKS
    run = shop.start("implement-spec", {**SPLIT, "review/reviewer": NOTHING}, spec="spec.md")
    shop.drive()
    assert shop.state(run).message == "3 tasks for spec.md"
    state = shop.answer(run, "approve")
    assert state.status == "succeeded", state.message
    assert "is ready, not pushed" in state.steps["pr"].summary
    built: Any = state.names["built"]
    assert [(each["key"], each["status"], each["branch"]) for each in built] == [
        (key, "succeeded", f"work/{run}-{key}") for key in ("base", "top", "side")
    ]
    assert state.steps["combine"].output == {"merged": ["base", "top", "side"], "left": []}
    assert state.steps["left-over"].status == "skipped"
    merged = [each for each in shop.path(run) if each.startswith("combine/")]
    assert merged == [
        "combine/base",
        "combine/base/checks",
        "combine/top",
        "combine/top/checks",
        "combine/side",
        "combine/side/resolve",
        "combine/side/conclude",
        "combine/side/checks",
    ]
    proofs: Any = shop.endings(built[0]["run"], "build[base]/implement")[0].details["proofs"]
    assert [(each["kind"], each["ok"]) for each in proofs] == [("files", True)]
    tree = shop.tree(run)
    assert {name: (tree / name).read_text() for name in ("top.txt", "side.txt", "list.txt")} == {
        "top.txt": "base\n",
        "side.txt": "side\n",
        "list.txt": "base\nside\n",
    }
    child = next(each for each in family(shop.log, run) if shop.state(each).workflow == "review-loop")
    assert shop.path(child) == ["review@1/reviewer"]
    assert git(shop.repo, "status", "--porcelain") == ""


def test_implement_spec_lists_what_failed_and_merges_the_rest(shop: StepsRoom) -> None:
    shop.checks = CHECKS
    script = {**SPLIT, "build[base]/implement": {"say": "I could not."}, "review/reviewer": NOTHING}
    run = shop.start("implement-spec", script, spec="spec.md", width=1)
    shop.drive()
    state = shop.answer(run, "approve")
    assert state.status == "succeeded", state.message
    filed: Any = state.steps["left-over"].output
    assert [each["title"] for each in filed] == ["The base", "The top"]
    assert "created 2 issues" in state.steps["left-over"].summary
    built: Any = state.names["built"]
    assert [(each["key"], each["status"]) for each in built] == [
        ("base", "failed"),
        ("top", "failed"),
        ("side", "succeeded"),
    ]
    assert "not proven" in built[0]["error"]
    assert built[1]["error"] == "it depends on 'base', which failed"
    assert state.steps["combine"].output == {"merged": ["side"], "left": []}


def test_a_split_that_is_sent_back_is_made_again(shop: StepsRoom) -> None:
    shop.checks = CHECKS
    again = {"expect_prompt": "one part is enough", "output": TASKS[:1]}
    run = shop.start("implement-spec", {**SPLIT, "split": [SPLIT["split"], again]}, spec="spec.md")
    shop.drive()
    assert shop.answer(run, "revise", "one part is enough").message == "1 tasks for spec.md"


MENDS = {"files": {"fixed.txt": "x\n"}, "say": "Repaired.", "repeat": True}
JUDGES = {"output": {"actionable": True}, "repeat": True}


def test_review_loop_ends_clean_without_a_word(shop: StepsRoom) -> None:
    shop.checks = {"fixed": "test -e fixed.txt"}
    script: dict[str, Any] = {"review/reviewer": [{"output": {"findings": [finding("names")]}}, NOTHING]}
    state = shop.run("review-loop", {**script, "review/arbiter": JUDGES, "review/fixer": MENDS})
    assert state.status == "succeeded"
    result: Any = state.steps["review"].output
    assert result["stopped"] == "clean"
    assert (state.steps["explain"].status, state.steps["decide"].status) == ("skipped", "skipped")
    assert shop.path(state.run) == [
        "review@1/reviewer",
        "review@1/arbiter",
        "review@1/fixer",
        "review@1/checks",
        "review@2/reviewer",
    ]


def test_review_loop_asks_a_person_when_the_fixes_walk_in_a_circle(shop: StepsRoom) -> None:
    shop.checks = {"fixed": "test -e fixed.txt"}
    rounds = [{"output": {"findings": [finding(rule)]}} for rule in ("names", "types", "names")]
    script: dict[str, Any] = {
        "review/reviewer": [*rounds, {"expect_prompt": "leave the names", **NOTHING}],
        "review/arbiter": JUDGES,
        "review/fixer": MENDS,
        "explain": {
            "expect_prompt": ["ended by oscillation after 3 rounds", "it breaks names"],
            "say": "Names or types?",
        },
    }
    state = shop.run("review-loop", script)
    assert (state.status, state.reason, state.message) == ("waiting", "approval", "Names or types?")
    state = shop.answer(state.run, "revise", "leave the names")
    assert state.status == "succeeded"
    assert shop.path(state.run)[-1] == "review@1/reviewer"


TEST_DEPS = "! grep -q bad installed.txt && { ! grep -q odd installed.txt || test -e adapted.txt; }"
OUTDATED = "".join(f"{name} 1.0.0 2.0.0\n" for name in ("fine", "odd", "bad", "good"))


def nightly(shop: StepsRoom, outdated: str) -> None:
    shop.checks = {"test": TEST_DEPS}
    shop.project = Project(outdated="cat outdated.txt", update='echo "$PACKAGE@$VERSION" >> installed.txt')
    (shop.repo / "outdated.txt").write_text(outdated)
    git(shop.repo, "add", "-A")
    git(shop.repo, "commit", "-qm", "more")


def test_deps_nightly_keeps_what_passes_and_takes_back_what_does_not(shop: StepsRoom) -> None:
    nightly(shop, OUTDATED)
    script = {
        "bump[odd]/test/fix": {
            "expect_prompt": "odd 1.0.0 2.0.0",
            "files": {"adapted.txt": "yes\n"},
        },
        "bump[bad]/test/fix": {
            "files": {"tried.txt": "no\n"},
            "usage": {"input_tokens": 1, "output_tokens": 1, "cost": 1.25},
            "repeat": True,
        },
    }
    state = shop.run("deps-nightly", script)
    assert state.status == "succeeded", state.message
    assert "is ready, not pushed" in state.steps["pr"].summary
    done: Any = state.steps["bump"].output
    assert [each.split()[0] for each in done["done"]] == ["fine", "odd", "good"]
    assert [each.split()[0] for each in done["undone"]] == ["bad"]
    # Its own budget of one dollar ends the fixes of one package, and nothing else.
    assert shop.path(state.run).count("bump[bad]/test/fix") == 1
    undone = [each for each in of_kind(shop.log, state.run, RoundEnded) if each.undone]
    assert "no further fix was tried: the budget is used up: $1.25 of $1.00" in undone[0].error
    tree = shop.tree(state.run)
    assert (tree / "installed.txt").read_text().split() == ["fine@2.0.0", "odd@2.0.0", "good@2.0.0"]
    assert not (tree / "tried.txt").exists()
    log = git(tree, "log", "--format=%s", "main..HEAD").splitlines()
    assert log == [f"build(deps): bump {name} to 2.0.0" for name in ("good", "odd", "fine")]


def test_deps_nightly_ends_when_all_is_current(shop: StepsRoom) -> None:
    nightly(shop, "")
    state = shop.run("deps-nightly", {})
    assert (state.status, state.message) == ("succeeded", "All dependencies are current.")
