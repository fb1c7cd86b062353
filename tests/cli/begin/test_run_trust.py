"""What of a repository runs before it is trusted, after it, and once it changed: one case for each kind of content."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.cli.running import Runs

COMMAND = 'name: NAME\nsteps: [{{name: s, command: "{mark}"}}]\n'
PYTHON = """\
import pathlib
pathlib.Path({path!r}).touch()
def resolve(context):
    return {{"name": "NAME", "steps": [{{"name": "s", "command": "true"}}]}}
"""
SLOT = {"slotId": "who", "purpose": "Who reviews.", "default": "routine-plain"}
GUIDED = {"id": "mine", "name": "Mine", "version": "1.0.0", "description": "d", "extensionPoints": [SLOT]}
AGENT = '[agents.own]\ncommand = ["sh", "-c", "{mark}"]\naccess = {{read = [], edit = [], full = []}}\n'
STEP = "name: mine\nsteps: [{name: one, agent: own, prompt: Do the work.}]\n"
GATE = "name: mine\nsteps: [{name: g, type: gate, checks: project}]\n"


@dataclass(frozen=True, slots=True)
class Case:
    """Content of a repository that leaves a mark when it runs."""

    file: str
    text: Callable[[Path], str]
    run: str
    own: str = ""
    """The person's own workflow `mine`, where it is this one that is run."""
    beside: tuple[tuple[str, str], ...] = ()
    """Other files of the repository."""


def command(name: str) -> Callable[[Path], str]:
    return lambda mark: COMMAND.format(mark=f"touch {mark}").replace("NAME", name)


CASES = {
    "command": Case(".handrail/workflows/flow.yaml", command("flow"), "flow"),
    "use": Case(
        ".handrail/workflows/helper.yaml",
        command("helper"),
        "flow",
        beside=((".handrail/workflows/flow.yaml", "name: flow\nsteps: [{name: a, use: helper}]\n"),),
    ),
    "call": Case(
        ".handrail/workflows/helper.yaml",
        command("helper"),
        "flow",
        beside=((".handrail/workflows/flow.yaml", "name: flow\nsteps: [{name: a, workflow: helper}]\n"),),
    ),
    "tool": Case(
        ".handrail/workflows/flow/tool.sh",
        lambda mark: f"touch {mark}\n",
        "flow",
        beside=(
            (
                ".handrail/workflows/flow/workflow.yaml",
                "name: flow\nsteps: [{name: s, command: 'sh .handrail/workflows/flow/tool.sh'}]\n",
            ),
        ),
    ),
    "python": Case(
        ".handrail/workflows/flow/workflow.py",
        lambda mark: PYTHON.format(path=str(mark)).replace("NAME", "flow"),
        "flow",
    ),
    "checks": Case(".handrail/config.toml", lambda mark: f'[checks]\nall = "touch {mark}"\n', "mine", own=GATE),
    "agent": Case(".handrail/config.toml", lambda mark: AGENT.format(mark=f"touch {mark}"), "mine", own=STEP),
}


@pytest.fixture(params=list(CASES))
def case(request: pytest.FixtureRequest, runs: Runs) -> Case:
    found = CASES[request.param]
    if found.own:
        runs.shop.user_workflow("mine", found.own)
    for path, text in found.beside:
        runs.shop.write(path, text)
    return found


def test_nothing_of_it_runs_before_trust(runs: Runs, case: Case, tmp_path: Path) -> None:
    runs.shop.write(case.file, case.text(tmp_path / "ran"))
    for words in (["list"], ["validate", case.run], ["inspect", case.run], ["simulate", case.run], ["test"]):
        runs.call(*words)
    assert runs.call("run", case.run, "--in", ".").exit_code == 3
    assert runs.call("run", case.run, "--in", ".", "--detach").exit_code == 3
    assert not (tmp_path / "ran").exists()


def test_it_runs_after_trust_and_not_once_it_changed(runs: Runs, case: Case, tmp_path: Path) -> None:
    runs.shop.write(case.file, case.text(tmp_path / "ran"))
    asked = runs.json("trust", case.run, "--show")
    assert case.file in {each["path"] for each in asked["files"] if not each["trusted"]}
    assert runs.call("trust", case.run, "--yes").exit_code == 0
    runs.call("run", case.run, "--in", ".")
    assert (tmp_path / "ran").exists()
    runs.shop.write(case.file, case.text(tmp_path / "changed"))
    asked = runs.json("trust", case.run, "--show")
    assert [each["path"] for each in asked["files"] if not each["trusted"]] == [case.file]
    assert asked["difference"].count("+++ now/") == 1
    assert runs.call("run", case.run, "--in", ".").exit_code == 3
    assert not (tmp_path / "changed").exists()


def test_bindings_count_only_once_they_are_trusted(runs: Runs) -> None:
    step = {"id": "ask", "title": "Ask", "prompt": "Use {{wr.bindings.who}}."}
    own = runs.shop.home / "workflows" / "mine.json"
    own.parent.mkdir(parents=True)
    own.write_text(json.dumps({**GUIDED, "steps": [step]}))
    runs.shop.write(".handrail/bindings.json", '{"who": "routine-design-review"}')
    said = runs.text("run", "mine", "--in", ".", code=3)
    assert ".handrail/bindings.json is not trusted" in said
    assert runs.call("trust", "mine", "--yes").exit_code == 0
    assert "bindings.json is not trusted" not in runs.call("run", "mine", "--in", ".").output
    runs.shop.write(".handrail/bindings.json", '{"who": "routine-ideation"}')
    assert ".handrail/bindings.json is not trusted" in runs.text("run", "mine", "--in", ".", code=3)


def test_a_tier_may_be_named_by_whoever_starts_a_workflow(runs: Runs, tmp_path: Path) -> None:
    runs.shop.user_workflow("flow", command("flow")(tmp_path / "own"))
    runs.shop.write(".handrail/workflows/flow.yaml", command("flow")(tmp_path / "theirs"))
    runs.text("run", "flow", "--in", ".")
    assert runs.call("run", "repository:flow", "--in", ".").exit_code == 3
    assert (tmp_path / "own").exists()
    assert not (tmp_path / "theirs").exists()
    assert runs.call("run", "built-in:flow", "--in", ".").exit_code == 2


def test_a_file_that_lies_elsewhere_does_not_reach_into_the_repository(runs: Runs, tmp_path: Path) -> None:
    runs.shop.write(".handrail/workflows/helper.yaml", command("helper")(tmp_path / "ran"))
    away = tmp_path / "away" / "flow.yaml"
    away.parent.mkdir()
    away.write_text("name: flow\nsteps: [{name: a, use: helper}]\n")
    assert runs.call("run", str(away), "--in", ".").exit_code == 4


def test_a_persons_workflow_that_is_linked_from_elsewhere_needs_trust_and_sees_the_repository_no_more(
    runs: Runs, tmp_path: Path
) -> None:
    theirs = runs.shop.write("flows/flow.yaml", command("flow")(tmp_path / "ran"))
    own = runs.shop.home / "workflows" / "flow.yaml"
    own.parent.mkdir(parents=True)
    own.symlink_to(theirs)
    assert runs.call("run", "flow", "--in", ".").exit_code == 3
    theirs.write_text("name: flow\nsteps: [{name: a, use: helper}]\n")
    runs.shop.write(".handrail/workflows/helper.yaml", command("helper")(tmp_path / "ran"))
    assert runs.call("run", "flow", "--in", ".").exit_code == 4
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["Review-Loop", "review-lo\u006fp\u200b", "review\u2010loop", "wr.review-loop"])
def test_names_that_only_look_alike_are_other_names(runs: Runs, tmp_path: Path, name: str) -> None:
    runs.shop.user_workflow("mine", f"name: mine\nsteps: [{{name: a, use: '{name}'}}]\n")
    runs.shop.write(".handrail/workflows/review-loop.yaml", command("review-loop")(tmp_path / "ran"))
    assert runs.call("run", "mine", "--in", ".").exit_code in (3, 4)
    assert not (tmp_path / "ran").exists()


def test_a_repository_inside_another_has_a_trust_of_its_own(
    runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = runs.shop.root / "vendor" / "inner"
    (inner / ".git").mkdir(parents=True)
    runs.shop.write("vendor/inner/.handrail/workflows/flow.yaml", command("flow")(tmp_path / "ran"))
    assert runs.call("trust", ".", "--yes").exit_code == 0
    monkeypatch.chdir(inner)
    assert runs.call("run", "flow", "--in", ".").exit_code == 3
    assert not (tmp_path / "ran").exists()
