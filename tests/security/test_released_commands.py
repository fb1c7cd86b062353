"""Whoever releases an imported run sees everything that it may run, wherever in its history that stands."""

import json

import pytest

from support.security.black_box import BlackBox

pytestmark = pytest.mark.system  # takes long: many processes of its own

OUTER = """
name: outer
steps:
  - {name: ok, type: approval, message: Go on?}
  - {name: plain, command: "echo plain"}
  - {name: green, type: gate, checks: {look: "echo checked"}, fix: Repair the build.}
  - name: build
    prompt: Build it.
    done_when:
      - passes: echo proven
      - fails: echo refuted
  - name: rounds
    type: loop
    for: 2
    max_iterations: 2
    steps:
      - {name: again, command: "echo round"}
  - name: wide
    type: parallel-agents
    for_each: [a, b]
    steps:
      - {name: item, command: "echo item"}
      - {name: from-item, type: workflow, workflow: inner}
  - {name: call, type: workflow, workflow: middle}
"""
MIDDLE = (
    "name: middle\nsteps:\n  - {name: mid, command: echo middle}\n  - {name: down, type: workflow, workflow: inner}\n"
)
INNER = """
name: inner
steps:
  - {name: deep, command: "echo deep"}
  - name: prove
    prompt: Prove it.
    done_when:
      - passes: echo deep proof
"""
CONFIG = '[worktrees]\nsetup = ["echo set-up"]\nteardown = ["echo teardown"]\n'
RUNS = {
    ("outer", "plain"): "echo plain",
    ("outer", "green"): "echo checked",
    ("outer", "build"): "echo proven",
    ("outer", "rounds/again"): "echo round",
    ("outer", "wide/item"): "echo item",
    ("middle", "mid"): "echo middle",
    ("inner", "deep"): "echo deep",
    ("inner", "prove"): "echo deep proof",
}


@pytest.fixture
def imported(box: BlackBox) -> BlackBox:
    """A run that came in from a file, as `outer-2`."""
    for name, text in {"outer": OUTER, "middle": MIDDLE, "inner": INNER}.items():
        box.write_own(f"workflows/{name}/workflow.yaml", text)
    script = box.write_own("script.yaml", "steps: {}\n")
    box.write(".handrail/config.toml", CONFIG)
    box.commit()
    assert box.call("trust", "outer", "--yes").exit_code == 0
    answer = box.call("run", "outer", "--agent", "scripted", "--script", str(script))
    assert answer.exit_code == 3, answer.text
    file = box.base / "run.json"
    file.write_text(box.call("export", "outer-1", "--json").out)
    assert box.call("import-run", str(file)).exit_code == 0
    return box


def test_release_lists_what_called_workflows_items_gates_and_proofs_run(imported: BlackBox) -> None:
    listed = imported.call("release", "outer-2", "--show", "--json").document["commands"]
    found = {(each["workflow"], each["step"], each["text"]) for each in listed if each["kind"] == "command"}
    assert {(workflow, step, text) for (workflow, step), text in RUNS.items()} <= found, json.dumps(listed, indent=1)
    assert ("outer", "build", "echo refuted") in found
    assert {(None, "set-up", "echo set-up"), (None, "set-up", "echo teardown")} <= found
    agents = {(each["workflow"], each["step"]) for each in listed if each["kind"] == "agent"}
    assert agents >= {("outer", "green"), ("outer", "build"), ("inner", "prove")}


def test_the_same_is_shown_before_a_person_is_asked(imported: BlackBox) -> None:
    asked = imported.call("release", "outer-2")
    assert asked.exit_code != 0
    for text in RUNS.values():
        assert f"$ {text}" in asked.text
    assert "in the workflow inner, which it calls:" in asked.out
