from typing import Any

from inline_snapshot import snapshot

from support.pull.lists import everything
from support.pull.room import Pull, definition, loop, step

Json = dict[str, Any]

NATIVE = """\
name: NAME
description: Builds and checks.
input:
  task: string
  base: string = main
steps:
  - {name: plan, prompt: 'Plan ${task}'}
  - {name: check, command: 'true', when: task != ''}
  - name: polish
    type: loop
    while: steps.check.exit_code != 0
    max_iterations: 3
    steps:
      - {name: fix, prompt: Fix it}
"""


def inspected(pull: Pull, name: str, **keys: Any) -> Json:
    said = pull.call("inspect_workflow", workflowId=name, workspacePath=str(pull.workspace), **keys)
    assert not said.is_error, said.text
    return said.data


def test_metadata_tells_everything_that_a_workflow_declares(pull: Pull) -> None:
    (pull.workspace / "docs").mkdir()
    (pull.workspace / "docs" / "guide.md").write_text("Be kind.", "utf-8")
    data = inspected(pull, pull.add(everything()), mode="metadata")
    assert "steps" not in data
    assert data.pop("workflowHash").startswith("sha256:")
    assert data.pop("path").endswith("sample-flow.json")
    for each in data["references"]:
        each["path"] = each["path"].replace(str(pull.workspace), "WORKSPACE")
    assert data == snapshot(
        {
            "mode": "metadata",
            "workflowId": "sample-flow",
            "name": "Sample",
            "description": "A sample.",
            "version": "1.0.0",
            "kind": "workflow",
            "form": "json",
            "tier": "user",
            "tags": [],
            "startable": True,
            "staleness": {
                "level": "possible",
                "reason": "it does not say against which version of the authoring spec it was reviewed",
            },
            "hides": [],
            "valid": True,
            "validationWarnings": [],
            "about": "All there is to say.",
            "examples": ["Look at the login page"],
            "preconditions": ["The tests pass."],
            "clarificationPrompts": ["Which page?"],
            "metaGuidance": ["Be brief."],
            "agentRole": "You are a careful reader.",
            "capabilities": {"delegation": "preferred"},
            "features": [
                {
                    "id": "wr.features.capabilities",
                    "config": {
                        "preferred": ["delegation"],
                        "probeVisibility": "collapsed",
                        "recordObservationsAs": "artifact",
                        "required": [],
                    },
                }
            ],
            "extensionPoints": [
                {
                    "slotId": "how",
                    "purpose": "How to look.",
                    "boundTo": "wr.routine-ideation",
                    "fromProject": False,
                    "acceptedKinds": [],
                }
            ],
            "references": [
                {
                    "id": "guide",
                    "title": "The guide",
                    "path": "WORKSPACE/docs/guide.md",
                    "purpose": "Style.",
                    "authoritative": True,
                    "resolveFrom": "workspace",
                    "status": "resolved",
                },
                {
                    "id": "gone",
                    "title": "Lost",
                    "path": "docs/gone.md",
                    "purpose": "Nothing.",
                    "authoritative": False,
                    "resolveFrom": "workspace",
                    "status": "unresolved",
                    "reason": "it does not exist",
                },
            ],
            "assessments": [
                {
                    "id": "confidence",
                    "purpose": "How sure you are.",
                    "dimensions": [
                        {"id": "evidence", "purpose": "What supports it.", "levels": ["low", "high"], "required": True}
                    ],
                }
            ],
            "recommendedPreferences": {"recommendedAutonomy": "guided", "recommendedRiskPolicy": "balanced"},
        }
    )


def test_a_preview_shows_every_step_with_its_condition_its_loop_and_what_it_must_give(pull: Pull) -> None:
    assert inspected(pull, pull.add(everything()), mode="preview")["steps"] == snapshot(
        [
            {
                "stepId": "step-1",
                "address": "step-1",
                "title": "Title of step-1",
                "kind": "guided",
                "performedBy": "agent",
                "agentRole": "You look at things closely.",
                "assessments": ["confidence"],
                "followUpAtLevels": ["low"],
            },
            {
                "stepId": "step-2",
                "address": "step-2",
                "title": "Title of step-2",
                "kind": "guided",
                "performedBy": "agent",
                "runCondition": "deep == true",
                "agentRole": "You are a careful reader.",
                "confirmation": "your user",
            },
            {
                "stepId": "again",
                "address": "again",
                "title": "Again",
                "kind": "guided-loop",
                "performedBy": "handrail",
                "loop": {"type": "while", "maxIterations": 5, "decidedBy": "wr.contracts.loop_control"},
                "steps": [
                    {
                        "stepId": "try-it",
                        "address": "again/try-it",
                        "title": "Title of try-it",
                        "kind": "guided",
                        "performedBy": "agent",
                        "agentRole": "You are a careful reader.",
                    },
                    {
                        "stepId": "decide",
                        "address": "again/decide",
                        "title": "Title of decide",
                        "kind": "guided",
                        "performedBy": "agent",
                        "agentRole": "You are a careful reader.",
                        "outputContract": "wr.contracts.loop_control",
                    },
                ],
            },
        ]
    )


def test_a_native_workflow_shows_its_inputs_and_who_does_what(pull: Pull) -> None:
    pull.add(NATIVE, "builder")
    data = inspected(pull, "builder")
    assert data["inputs"] == snapshot(
        [
            {"name": "base", "type": "string", "required": False, "default": "main", "description": ""},
            {"name": "task", "type": "string", "required": True, "default": None, "description": ""},
        ]
    )
    assert data["steps"] == snapshot(
        [
            {"stepId": "plan", "address": "plan", "title": "plan", "kind": "agent", "performedBy": "agent"},
            {
                "stepId": "check",
                "address": "check",
                "title": "check",
                "kind": "script",
                "performedBy": "handrail",
                "runCondition": "task != ''",
            },
            {
                "stepId": "polish",
                "address": "polish",
                "title": "polish",
                "kind": "loop",
                "performedBy": "handrail",
                "loop": {"type": "while", "maxIterations": 3, "condition": "steps.check.exit_code != 0"},
                "steps": [
                    {"stepId": "fix", "address": "polish/fix", "title": "fix", "kind": "agent", "performedBy": "agent"}
                ],
            },
        ]
    )


def test_steps_of_a_routine_say_where_they_come_from(pull: Pull) -> None:
    call = {"templateId": "wr.templates.routine.design-review", "args": {"deliverableName": "findings.md"}}
    name = pull.add(definition(step("first"), {"id": "call-it", "title": "Review", "templateCall": call}))
    steps = inspected(pull, name, expand=True)["steps"][1:]
    assert {each["injectedBy"] for each in steps} == {"wr.templates.routine.design-review"}
    assert {each["injectedAt"] for each in steps} == {"call-it"}
    assert all(each["injectedWhy"] for each in steps)
    assert all(each["stepId"].startswith("call-it.") for each in steps)


def test_steps_of_a_routine_are_one_step_until_they_are_asked_for(pull: Pull) -> None:
    call = {"templateId": "wr.templates.routine.design-review", "args": {"deliverableName": "findings.md"}}
    called = {"id": "call-it", "title": "Review", "templateCall": call}
    name = pull.add(definition(step("first"), called, loop("lap", step("dig"), type="for", count=2)))
    said = pull.call("inspect_workflow", workflowId=name, workspacePath=str(pull.workspace))
    count = len(inspected(pull, name, expand=True)["steps"]) - 2
    assert [each["stepId"] for each in said.data["steps"]] == ["first", "call-it", "lap"]
    assert said.data["steps"][1] == {
        "stepId": "call-it",
        "address": "call-it",
        "title": f"{count} steps of wr.templates.routine.design-review",
        "kind": "template",
        "performedBy": "agent",
        "injectedBy": "wr.templates.routine.design-review",
        "hiddenSteps": count,
    }
    assert f"\n2. call-it: {count} steps of wr.templates.routine.design-review\n" in said.text


def test_steps_of_a_native_routine_are_one_step_until_they_are_asked_for(pull: Pull) -> None:
    pull.add(
        "name: NAME\nsteps:\n  - {name: look, prompt: Look at it.}\n  - {name: do, prompt: Do it.}\n", "routine-two"
    )
    pull.add("name: NAME\nsteps:\n  - {name: both, use: routine-two}\n", "caller")
    (folded,) = inspected(pull, "caller")["steps"]
    assert folded["hiddenSteps"] == 2
    assert "steps" not in folded
    (whole,) = inspected(pull, "caller", expand=True)["steps"]
    assert [each["stepId"] for each in whole["steps"]] == ["look", "do"]


def test_the_hash_is_that_of_the_list_and_of_a_run(pull: Pull) -> None:
    name = pull.add(everything())
    rows = pull.call("list_workflows", workspacePath=str(pull.workspace)).data["workflows"]
    of_list = next(each["workflowHash"] for each in rows if each["workflowId"] == name)
    assert inspected(pull, name)["workflowHash"] == of_list == pull.start(name).data["workflowHash"]


def test_a_broken_workflow_shows_what_is_wrong_with_it(pull: Pull) -> None:
    (pull.home / "workflows" / "broken.yaml").write_text("name: broken\nsteps:\n  - 5\n", "utf-8")
    said = pull.call("inspect_workflow", workflowId="broken", workspacePath=str(pull.workspace))
    assert said.data["valid"] is False
    assert said.data["validationWarnings"][0]["line"] == 3
    assert "broken.yaml:3: " in said.text


def test_an_unknown_workflow_is_not_found_and_near_names_are_told(pull: Pull) -> None:
    said = pull.call("inspect_workflow", workflowId="fix-bog", workspacePath=str(pull.workspace))
    assert said.code == "NOT_FOUND"
    assert "fix-bug" in said.text
    assert "list_workflows" in said.text


def test_inspecting_records_nothing(pull: Pull) -> None:
    name = pull.add(everything())
    inspected(pull, name)
    assert pull.size() == {}
