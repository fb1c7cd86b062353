"""Agents' steps as they are watched, shown, explained and stopped."""

import json
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from handrail.testing.leaks import processes_within
from support.cli.running import until
from support.cli.team import Team
from support.cli.team_workflows import BUILDS, FAN

PROVEN = """\
name: NAME
budget: {usd: 5}
steps:
  - name: reproduce
    prompt: Prove the bug with a test now.
    done_when: [{changed: '*.txt'}, {passes: test -f bug.txt}]
    retry: 1
  - {name: fix, prompt: Fix the bug now.}
"""
PROVES = {
    "reproduce": [
        {"say": "not yet", "usage": {"input_tokens": 1, "output_tokens": 1, "cost": 0.1}},
        {"files": {"bug.txt": "bug\n"}, "usage": {"input_tokens": 1, "output_tokens": 1, "cost": 0.2}},
    ],
    "fix": [{"files": {"app.txt": "fixed\n"}}],
}
REVIEWED = """\
name: NAME
steps:
  - {name: work, prompt: Write the program now.}
  - name: checks
    type: gate
    checks: {ok: grep -q good app.txt}
    fix: {prompt: Fix the checks please, max: 2}
  - name: review
    type: agent-loop
    reviewer: {prompt: Review the changes please, access: read}
    fixer: Fix the findings please
    max_iterations: 4
"""
FOUND = {"findings": [{"file": "app.txt", "line": 1, "rule": "x", "severity": "high", "message": "no greeting"}]}
REVIEWS = {
    "checks/fix": [{"files": {"app.txt": "good\n"}}],
    "review/reviewer": [{"output": FOUND}, {"output": FOUND}],
    "default": [{"say": "done", "repeat": True}],
}
ONE = """\
name: NAME
steps:
  - {name: work, prompt: Do the work now.}
"""
SLOW = """\
name: NAME
steps:
  - {name: items, type: script, command: "echo '[1, 2]'", returns: [int], output: items}
  - name: build
    type: parallel-agents
    for_each: ${items}
    prompt: Take your time with {{ item }} now.
"""


def test_agents_steps_are_lines_with_agent_time_price_and_proof(team: Team) -> None:
    team.add("proven", PROVEN, **PROVES)
    assert team.run("proven") == snapshot("""\
run proven-1 · pinned 0000 · 2 to 3 agent calls, at most $5.00
✓ worktree ready at WORKTREES/proven-1 on branch work/proven-1
▸ reproduce  scripted
✗ reproduce  0.0s  $0.10  not proven: changed: *.txt; not proven: test -f bug.txt passes
▸ reproduce  scripted  try 2
✓ reproduce  0.0s  $0.20  proof: changed: *.txt · test -f bug.txt passes
▸ fix  scripted
✓ fix  0.0s
proven-1 succeeded · 0.0s · $0.30 of $5.00
next: handrail diff proven-1 --stat, then apply, merge or discard it
""")


def test_checks_that_were_fixed_and_a_review_are_told_in_a_line(team: Team) -> None:
    team.add("reviewed", REVIEWED, **REVIEWS)
    said = team.run("reviewed")
    assert [line for line in said.splitlines() if line[2:].startswith(("checks ", "review "))] == snapshot(
        [
            "✗ checks  0.0s  ok: exit 1",
            "✓ checks  0.0s  ✗ → fixed → ✓",
            "✓ review  0.0s  review ended after 2 rounds: the last fix changed nothing; 1 open",
        ]
    )
    assert team.text("why", "reviewed-1", "review").splitlines()[-1] == snapshot(
        "review             review ended after 2 rounds: the last fix changed nothing; 1 open"
    )


def test_items_are_lines_of_their_own(team: Team) -> None:
    team.add("fan", FAN, **BUILDS)
    lines = team.run("fan").splitlines()
    for wanted in ("▸ build  2 items, 3 at a time: a, b", "✓ combine  0.0s  merged a, b"):
        assert wanted in lines
    for start in ("▸ build[a]  started as fan-1.", "✓ build[a]/make  0.0s", "✓ build[b]  0.0s  on branch work/fan-1-b"):
        assert any(line.startswith(start) for line in lines), start
    assert sum("worktree ready" in line for line in lines) == 1


def test_a_step_is_shown_with_its_proofs_and_whether_they_are_stale(team: Team) -> None:
    team.add("proven", PROVEN, **PROVES)
    team.run("proven")
    assert team.text("show", "proven-1", "reproduce") == snapshot("""\
reproduce
  status     succeeded, try 2
  agent      scripted (--agent)
  session    SESSION
  cost       $0.30, 4 tokens, 2 agent calls
  began      TIME
  ended      TIME
  output     ""
  proof      ✓ changed: *.txt  (stale: established on tree HASH, the worktree is now HASH)
  proof      ✓ test -f bug.txt passes  (stale: established on tree HASH, the worktree is now HASH)
""")
    proofs = team.json("show", "proven-1", "reproduce")["steps"][0]["proofs"]
    assert [(each["ok"], each["stale"]) for each in proofs] == [(True, True), (True, True)]
    first = team.json("show", "proven-1", "reproduce@1")["steps"][0]
    assert (first["status"], [each["ok"] for each in first["proofs"]]) == ("failed", [False, False])
    why = [line.removeprefix("reproduce  ") for line in team.text("why", "proven-1", "reproduce").splitlines()]
    assert why == snapshot(
        [
            "ran because the run began, by scripted (--agent)",
            (
                "failed, not proven: changed: *.txt: no matching file changed, only: nothing; "
                "test -f bug.txt passes: it exited with 1"
            ),
            "try 2, ran because 'reproduce' failed, by scripted (--agent)",
            "succeeded, proven: changed: *.txt; test -f bug.txt passes",
        ]
    )


def test_a_proof_is_not_stale_while_the_files_are_the_same(team: Team) -> None:
    team.add("proven", PROVEN.replace("  - {name: fix, prompt: Fix the bug now.}\n", ""), **PROVES)
    team.run("proven")
    assert "stale" not in team.text("show", "proven-1", "reproduce")


def test_the_prompt_is_printed_to_the_letter_for_each_call(team: Team) -> None:
    team.add("proven", PROVEN, **PROVES)
    team.run("proven")
    first = team.runs.call("show", "proven-1", "reproduce@1", "--prompt").stdout
    last = team.runs.call("show", "proven-1", "reproduce", "--prompt").stdout
    events = [
        json.loads(line) for line in team.runs.call("logs", "proven-1", "reproduce", "--json").stdout.splitlines()
    ]
    given = [each["spec"]["prompt"] for each in events if each["kind"] == "step_began"]
    assert [first, last] == [f"{text}\n" for text in given]
    assert "Prove the bug with a test now." in first
    assert "test -f bug.txt passes" in last
    assert team.json("show", "proven-1", "fix", "--prompt")["step"] == "fix"
    assert "the prompt of which step?" in team.text("show", "proven-1", "--prompt", code=2)


def test_a_step_without_an_agent_has_no_prompt(team: Team) -> None:
    team.add("fan", FAN, **BUILDS)
    team.run("fan")
    assert "no agent was called for 'items' of fan-1" in team.text("show", "fan-1", "items", "--prompt", code=2)
    assert "Make `b` now." in team.text("show", "fan-1", "build[b]/make", "--prompt")


@pytest.mark.parametrize("text", [SLOW, ONE])
def test_stopping_a_run_leaves_no_process_of_an_agent(team: Team, text: str) -> None:
    started = team.root.parent / "started"
    slow = {"run": f"echo x >> {started}; exec sleep 300"}
    team.add("slow", text, default=[{**slow, "repeat": True}])
    count = 2 if text == SLOW else 1
    script = str(team.root.parent / "slow.script.yaml")
    driving = team.runs.process("run", "slow", "--agent", "scripted", "--script", script)
    until(lambda: started.exists() and len(started.read_text().split()) == count)
    team.text("stop", "slow-1")
    driving.communicate(timeout=60)
    assert team.json("show", "slow-1")["status"] == "cancelled"
    assert [each for each in processes_within(Path(team.root.parent)) if "sleep 300" in each] == []


def test_a_merge_that_left_something_out_and_a_budget_are_explained(team: Team) -> None:
    same = {"files": {"app.txt": "mine\n"}}
    other = {"files": {"app.txt": "yours\n"}}
    text = FAN.replace("      - {name: test, command: 'test -f \"${item.id}.txt\"'}\n", "")
    team.add("fan", text, **{"build[a]/make": [same], "build[b]/make": [other]})
    team.run("fan", code=3)
    assert "left out b: conflict in app.txt" in team.text("why", "fan-1", "combine")
    assert "needs a person: " in team.text("why", "fan-1")
    team.add("tight", PROVEN.replace("usd: 5", "agent_calls: 1"), **PROVES)
    team.run("tight", code=5)
    assert "the budget is used up: 1 agent calls of 1 agent calls" in team.text("why", "tight-1")


def test_a_run_is_shown_with_the_steps_of_its_items(team: Team) -> None:
    team.add("fan", FAN, **BUILDS)
    team.run("fan")
    addresses = [each["address"] for each in team.json("show", "fan-1")["steps"]]
    assert addresses[:2] == ["items", "build"]
    assert sorted(addresses[2:6]) == ["build[a]/make", "build[a]/test", "build[b]/make", "build[b]/test"]
    assert "✓ build[a]/test  succeeded" in team.text("status", "fan-1")
