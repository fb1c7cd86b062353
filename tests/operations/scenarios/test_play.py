"""Scenarios are played with the real engine, and judged by everything a test can ask about."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from handrail.errors import InvalidWorkflow
from handrail.operations.runs.prepare import pin
from handrail.operations.scenarios.discover import find_suites, trust_temporarily
from handrail.operations.scenarios.suite import Outcome, ScenarioRunner
from handrail.sources.tiers import here
from handrail.wiring.scenario_environment import open_environment

Plays = Callable[[str, str], list[Outcome]]
ASKING = """\
name: build-it
input: {size: int = 1}
steps:
  - name: plan
    prompt: Plan it, please.
    output: plan
    returns: {parts: [string], risk: low | high}
    retry: 1
  - name: agree
    type: approval
    when: plan.risk == 'high'
    message: ${plan.parts | length} parts?
    revise: plan
  - name: build
    type: parallel-agents
    for_each: ${plan.parts}
    key: item
    steps:
      - {name: do, prompt: Build it now.}
    output: built
  - name: test
    type: gate
    checks: project
    fix: Repair it now.
"""


@pytest.fixture
def plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plays:
    """Play a test file of a workflow, both given as texts."""
    monkeypatch.setenv("HANDRAIL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "rooms"))
    (tmp_path / "rooms").mkdir()
    folder = tmp_path / ".handrail" / "workflows" / "build-it"

    def play(workflow: str, tests: str) -> list[Outcome]:
        (folder / "tests").mkdir(parents=True, exist_ok=True)
        (folder / "workflow.yaml").write_text(workflow, "utf-8")
        (folder / "tests" / "t.yaml").write_text(tests, "utf-8")
        with trust_temporarily(here(tmp_path, os.environ)) as place:
            bench = ScenarioRunner(open_environment, lambda name, _: pin(place, name))
            found = list(bench.play(find_suites(place, ("build-it",))))
        assert list((tmp_path / "rooms").iterdir()) == []
        return found

    return play


def problems(outcome: Outcome) -> list[tuple[int, str, str, str]]:
    return [(each.line, each.what, each.expected, each.happened) for each in outcome.problems]


HAPPY = """\
name: it works
checks: {green: test -e green}
turns:
  plan:
    - {say: one moment}
    - {output: {parts: [a, b], risk: high}, usage: {input_tokens: 1, output_tokens: 1, cost: 0.5}}
  "build[a]/do": {files: {a.txt: "a\\n"}}
  "build[b]/do": {files: {b.txt: "b\\n"}}
  test/fix: {run: touch green}
answers: {agree: approve}
expect:
"""


def test_a_scenario_can_ask_about_everything(plays: Plays) -> None:
    expect = """\
  path: [plan, agree, "build[a]/do", "build[b]/do", test]
  tries: {plan: 2, agree: 1}
  prompts: {plan: {contains: Plan it, lacks: Build}, plan@2: [Try 2 of 2], test/fix: green}
  steps:
    agree: {status: approve}
    plan: {status: succeeded, output: {risk: high}, tries: 2}
    test: {status: succeeded}
  outputs: {plan: {parts: [a, b]}}
  files: {green: "", never.txt: null}
  cost: {most: 0.5}
  agent_calls: 5
"""
    (outcome,) = plays(ASKING, HAPPY + expect)
    assert problems(outcome) == []


def test_every_expectation_that_does_not_hold_is_told_at_its_line(plays: Plays) -> None:
    expect = """\
  status: failed
  message: gone wrong
  path: [plan, test]
  not_run: [agree]
  tries: {plan: 1}
  prompts: {plan: [Plan that]}
  steps: {agree: {status: reject}}
  outputs: {plan: {parts: [a], size: 3}, other: 1}
  files: {green: "x", gone.txt: "y"}
  cost: 1
  agent_calls: {least: 9}
"""
    (outcome,) = plays(ASKING, HAPPY + expect)
    found = problems(outcome)
    assert [(line, what) for line, what, _, _ in found] == [
        (12, "the run ended differently"),
        (13, "the run's message does not contain this"),
        (14, "the run took a different path"),
        (15, "'agree' ran but should not have"),
        (16, "'plan' started a different number of times"),
        (17, "the prompt of 'plan' does not contain this in any of 2 calls"),
        (18, "'agree' ended differently"),
        (19, "plan.parts has a different value"),
        (19, "plan.size has a different value"),
        (19, "there is no output 'other'"),
        (20, "the file green has different content"),
        (20, "the file gone.txt does not exist"),
        (21, "the agents cost a different amount"),
        (22, "agents were called a different number of times"),
    ]
    assert found[5][2:] == ("Plan that", "Plan it, please.")


def test_what_is_left_over_is_a_failure(plays: Plays) -> None:
    tests = HAPPY.replace("risk: high", "risk: low") + "  status: succeeded\n"
    tests = tests.replace("  test/fix: {run: touch green}\n", "  test/fix: [{run: touch green}, {say: more}]\n")
    (outcome,) = plays(ASKING, tests.replace("expect:", "commands: {}\nexpect:"))
    assert [what for _, what, _, _ in problems(outcome)] == [
        "turn 2 of 'test/fix' was never played",
        "the answer for 'agree' was never used",
    ]


def test_a_run_may_be_expected_to_stand_at_its_question(plays: Plays) -> None:
    tests = HAPPY.split('  "build[a]', 1)[0] + "expect: {status: needs you, reason: approval, message: 2 parts?}\n"
    (outcome,) = plays(ASKING, tests)
    assert problems(outcome) == []


QUESTION = """\
name: build-it
steps:
  - {name: do, prompt: Do it now.}
  - {name: ship, command: "false", retry: {max: 2, backoff: 1h}, on_fail: block}
"""


def test_questions_are_answered_and_times_come_at_once(plays: Plays) -> None:
    tests = """\
name: it asks
turns: {do: [{ask: Which?}, {fail: {status: rate_limited, retry_after: 3600}}, {say: done}]}
answers: {do: The first.}
commands: {ship: [{exit: 1}, {exit: 1, stderr: busy}, {stdout: shipped}]}
expect:
  tries: {ship: 3}
  prompts: {do: The first.}
  steps: {ship: {output: shipped}}
"""
    (outcome,) = plays(QUESTION, tests)
    assert problems(outcome) == []
    assert outcome.replaced == ("ship",)


def test_a_scenario_that_takes_too_long_is_ended(plays: Plays) -> None:
    tests = "name: slow\ntimeout: 500ms\nturns: {do: {delay: 600}}\nexpect: {status: succeeded}\n"
    (outcome,) = plays(QUESTION, tests)
    assert [(line, what) for line, what, _, _ in problems(outcome)] == [
        (1, "it took longer than 0.5 s and was stopped")
    ]


def test_programs_of_a_test_are_found_before_all_others(plays: Plays) -> None:
    tests = """\
name: another git
tools: {git: echo not git}
files: {run.sh: {text: "#!/bin/sh\\ngit --version\\n", executable: true}}
expect: {outputs: {said: not git}}
"""
    (outcome,) = plays("name: build-it\nsteps:\n  - {name: ask, command: ./run.sh, output: said}\n", tests)
    assert problems(outcome) == []
    assert outcome.replaced == ("git",)


def test_a_called_workflow_is_played_too(plays: Plays, tmp_path: Path) -> None:
    inner = tmp_path / ".handrail" / "workflows" / "inner" / "workflow.yaml"
    inner.parent.mkdir(parents=True)
    inner.write_text("name: inner\nsteps:\n  - {name: ok, type: approval, message: Go?}\n", "utf-8")
    tests = "name: in and out\nanswers: {sub/ok: approve}\nexpect: {path: [sub, sub/ok, last]}\n"
    workflow = """\
name: build-it
steps:
  - {name: sub, type: workflow, workflow: inner}
  - {name: last, command: 'true'}
"""
    (outcome,) = plays(workflow, tests)
    assert problems(outcome) == []


WRONG: dict[str, tuple[str, int, str]] = {
    "an unknown key": ("name: x\nexpct: {}\n", 2, "did you mean 'expect'?"),
    "no expectation": ("name: x\n", 1, "a scenario needs 'expect'"),
    "an unknown step in a path": ("name: x\nexpect:\n  path: [do, shp]\n", 3, "did you mean 'ship'?"),
    "an unknown step with turns": ("name: x\nturns: {doo: {}}\nexpect: {}\n", 2, "build-it has no step 'doo'"),
    "a part of a step without parts": ("name: x\nexpect: {not_run: do/fix}\n", 2, "build-it has no step 'do/fix'"),
    "an unknown input": ("name: x\ninput: {a: 1}\nexpect: {}\n", 2, "there is no input 'a'"),
    "a bad turn": ("name: x\nturns: {do: {sayy: hi}}\nexpect: {}\n", 2, "did you mean 'say'?"),
    "a bad status": ("name: x\nexpect: {status: ok}\n", 2, "'ok' is not allowed here"),
    "a path out of the repository": ("name: x\nfiles: {../a: b}\nexpect: {}\n", 2, "not a path inside the workspace"),
    "a name twice": ("- {name: x, expect: {}}\n- {name: x, expect: {}}\n", 2, "two scenarios are called 'x'"),
    "an empty file": ("# nothing\n", 1, "the test file is empty"),
    "a plain text": ("hello\n", 1, "expected a map or a list"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_slip_in_a_test_file_is_told_at_its_line(name: str, plays: Plays) -> None:
    text, line, words = WRONG[name]
    with pytest.raises(InvalidWorkflow) as raised:
        plays(QUESTION, text)
    assert [(each.line, words in each.message) for each in raised.value.diagnostics] == [(line, True)]


def test_whoever_stops_listening_ends_what_is_played(plays: Plays, tmp_path: Path) -> None:
    plays(QUESTION, "name: x\nturns: {do: {say: done}}\ncommands: {ship: {}}\nexpect: {}\n")
    test = tmp_path / ".handrail/workflows/build-it/tests/t.yaml"
    test.write_text("- {name: a, expect: {}}\n- {name: b, turns: {do: {delay: 600}}, expect: {}}\n", "utf-8")
    with trust_temporarily(here(tmp_path, os.environ)) as place:
        bench = ScenarioRunner(open_environment, lambda name, _: pin(place, name), fail_fast=True)
        found: list[Any] = list(bench.play(find_suites(place, ("build-it",))))
    assert [each.scenario.name for each in found] == ["a"]
    assert not [each for each in threading.enumerate() if each.name.startswith("scenario")]
    assert list((tmp_path / "rooms").iterdir()) == []
