"""Workflows in the words of the older format run as they are written."""

from typing import Any

from handrail.authoring.importers import import_files
from support.authoring.grimoire import FILES, PROMPTS
from support.runtime.steps_room import StepsRoom


def finding(rule: str) -> dict[str, Any]:
    return {"file": "src/total.py", "line": 1, "rule": rule, "severity": "high", "message": f"it breaks {rule}"}


CLASSIC = """\
name: review-loop-classic
description: the older form
trigger: manual
input:
  - name: changes
steps:
  - name: review
    type: agent-loop
    prompt: review-changes
    arbiter_prompt: is-actionable
    max_iterations: 5
    exit_when: ${actionable} == false
    input:
      changes: ${changes}
    output: review
"""


def test_a_review_in_the_older_form_ends_when_the_arbiter_finds_nothing_actionable(shop: StepsRoom) -> None:
    script = {
        "review/reviewer": [
            {"expect_prompt": "the branch of ann", "output": {"findings": [finding(rule)]}}
            for rule in ("names", "types")
        ],
        "review/arbiter": [{"output": {"actionable": True}}, {"output": {"actionable": False, "reason": "fine so"}}],
        "review/fixer": {"expect_prompt": "it breaks names", "files": {"fixed.txt": "x\n"}},
    }
    state = shop.run(CLASSIC, script, changes="the branch of ann")
    assert state.status == "succeeded", state.message
    result: Any = state.names["review"]
    assert (result["stopped"], result["rounds"], result["actionable"]) == ("declined", 2, False)
    assert [each["rule"] for each in result["fixed"]] == ["names"]


GRIMOIRE = """\
name: spec-to-pr
description: Convert, implement, review
trigger: on_event
input:
  - name: openspec
    type: path
    required: true
steps:
  - name: convert
    type: agent
    prompt: spec-to-beads
    output: beads
    returns: [string]
  - name: implement
    type: parallel-agents
    prompt: implement-bead
    for_each: ${beads}
    max_concurrent: 2
    output: implementations
  - name: combine
    type: merge
    from: ${implementations}
  - name: review
    type: agent-loop
    prompt: review-changes
    arbiter_prompt: is-actionable
    max_iterations: 5
    exit_when: ${actionable} == false
    input:
      changes: ${implementations}
    output: review
  - name: test
    type: gate
    command: echo tried >> tries.log; test "$(wc -l < tries.log)" -ge 3
    on_fail: retry
    message: the tests are red
  - name: count
    type: script
    command: git ls-files | wc -l
    output: stat
"""
BEADS = {
    "spec-to-beads": "# Beads\n\n## Input\nOpenSpec path: {{.openspec}}\n",
    "implement-bead": (
        "## Previous Step: {{.previous_step.name}}\nResult: {{.previous_step.output}}\n\n## Your Task\n{{ item }}\n"
    ),
}


def test_a_whole_workflow_in_the_older_words_runs_to_its_end(shop: StepsRoom) -> None:
    shop.prompt_files = BEADS
    script = {
        "convert": {"expect_prompt": "OpenSpec path: `changes/one`", "output": ["login", "logout"]},
        "implement[0]/implement": {
            "expect_prompt": ["Previous Step: `convert`", "login"],
            "files": {"login.txt": "in\n"},
        },
        "implement[1]/implement": {"expect_prompt": "logout", "files": {"logout.txt": "out\n"}},
        "review/reviewer": {"expect_prompt": "login", "output": {"findings": [finding("names")]}},
        "review/arbiter": {"output": {"actionable": False, "reason": "fine so"}},
    }
    state = shop.run(GRIMOIRE, script, openspec="changes/one")
    assert state.status == "succeeded", state.message
    assert state.steps["combine"].output == {"merged": ["0", "1"], "left": []}
    result: Any = state.names["review"]
    assert result["stopped"] == "declined"
    assert state.steps["test"].attempts == 3
    assert sorted(path.name for path in shop.tree(state.run).glob("*.txt")) == ["login.txt", "logout.txt"]


def test_an_imported_grimoire_runs_to_its_end_with_what_its_items_built(shop: StepsRoom) -> None:
    imported = import_files(FILES).files
    shop.prompt_files = {name: imported[f"spec-to-pr/prompts/{name}.md"] for name in PROMPTS}
    script: dict[str, Any] = {
        "convert": {"expect_prompt": "OpenSpec path: `changes/one`", "output": ["login", "logout"]},
        "implement[0]/implement": {"expect_prompt": "login", "files": {"login.txt": "in\n"}},
        "implement[1]/implement": {"expect_prompt": "logout", "files": {"logout.txt": "out\n"}},
        "review/reviewer": {"output": {"findings": []}},
    }
    state = shop.run(imported["spec-to-pr/workflow.yaml"], script, openspec="changes/one")
    assert state.status == "succeeded", state.message
    assert state.steps["combine"].output == {"merged": ["0", "1"], "left": []}
    assert (shop.tree(state.run) / "logout.txt").exists()
