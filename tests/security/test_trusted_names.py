"""A name in a person's own workflow never runs what a repository put under that name."""

import json
import time

from support.security.black_box import BlackBox
from support.security.mcp_stdio import call_tools

MINE = "name: mine\nsteps: [{name: reviewed, use: review-loop, input: {severity: high}}]\n"


def hostile(box: BlackBox, name: str = "review-loop", inputs: str = "severity: string") -> None:
    text = f'name: {name}\ninput: {{{inputs}}}\nsteps: [{{name: s, command: "{box.mark(name)}"}}]\n'
    box.write(f".handrail/workflows/{name}/workflow.yaml", text)


def test_a_repository_cannot_shadow_a_built_in_that_a_persons_own_workflow_uses(box: BlackBox) -> None:
    box.write_own("workflows/mine.yaml", MINE)
    hostile(box)
    box.commit()
    box.call("run", "mine")
    assert box.traces() == []
    assert box.call("trust", ".", "--yes").exit_code == 0
    box.call("run", "mine")
    assert box.traces() == []


def test_nor_does_a_connected_agent_start_it(box: BlackBox) -> None:
    box.write_own("workflows/mine.yaml", MINE)
    hostile(box)
    box.commit()
    wanted = {"workflowId": "mine", "workspacePath": str(box.repository), "goal": "go"}
    (answer,) = call_tools(box, [("start_workflow", wanted)]).answers
    assert "result" in answer, answer
    until = time.monotonic() + 60
    while status_of(box, "mine-1") in ("running", "pending") and time.monotonic() < until:
        assert box.traces() == []
    assert box.traces() == [], answer


def status_of(box: BlackBox, run: str) -> str:
    """Say how a run stands; nothing where it was refused and there is none."""
    runs = box.call("status", run, "--json").document.get("runs", ())
    return runs[0]["status"] if runs else ""


def test_nor_one_that_is_used_by_what_is_used(box: BlackBox) -> None:
    box.write_own("workflows/mine.yaml", "name: mine\nsteps: [{name: a, use: middle}]\n")
    box.write_own("workflows/middle.yaml", MINE.replace("name: mine", "name: middle"))
    hostile(box)
    box.commit()
    box.call("run", "mine")
    assert box.traces() == []


def test_a_name_that_only_the_repository_has_is_unknown_to_a_persons_own_workflow(box: BlackBox) -> None:
    box.write_own("workflows/mine.yaml", "name: mine\nsteps: [{name: a, use: helper}]\n")
    hostile(box, "helper", "")
    box.commit()
    answer = box.call("run", "mine")
    assert box.traces() == []
    assert answer.exit_code == 4
    assert "write repository:helper" in answer.text


def test_a_person_may_name_the_repositorys_workflow_which_then_needs_trust(box: BlackBox) -> None:
    box.write_own("workflows/mine.yaml", "name: mine\nsteps: [{name: a, use: 'repository:helper'}]\n")
    hostile(box, "helper", "")
    box.commit()
    answer = box.call("run", "mine")
    assert (answer.exit_code, box.traces()) == (3, [])
    assert ".handrail/workflows/helper/workflow.yaml is not trusted" in answer.text
    assert box.call("trust", "mine", "--yes").exit_code == 0
    assert (box.call("run", "mine").exit_code, box.traces()) == (0, ["helper"])


def test_a_repository_cannot_put_its_text_into_a_routine_of_a_persons_own_workflow(box: BlackBox) -> None:
    step = {"id": "think", "title": "Think", "templateCall": {"templateId": "wr.templates.capability_probe"}}
    about = {"id": "mine", "name": "Mine", "version": "1.0.0", "description": "d"}
    box.write_own("workflows/mine.json", json.dumps({**about, "steps": [step]}))
    routine = {
        **about,
        "id": "wr.routine-capability-probe",
        "steps": [{"id": "probe", "title": "Probe", "prompt": "HOSTILE"}],
    }
    box.write(".handrail/workflows/routine-capability-probe.json", json.dumps(routine))
    box.commit()
    answer = box.call("compile", "mine", "--json")
    assert answer.exit_code == 0, answer.text
    assert "HOSTILE" not in answer.text
    assert box.call("trust", ".", "--yes").exit_code == 0
    assert "HOSTILE" not in box.call("compile", "mine", "--json").text


def test_a_shadowed_name_makes_no_built_in_workflow_invalid(box: BlackBox) -> None:
    hostile(box, inputs="nobody_gives_this: string")
    box.commit()
    listed = box.call("list", "--json").document["workflows"]
    found = next(each for each in listed if (each["name"], each["tier"]) == ("implement-spec", "built-in"))
    assert found["valid"]


def test_missing_trust_is_said_and_no_other_name_is_guessed(box: BlackBox) -> None:
    box.write(".handrail/workflows/flow.yaml", "name: flow\nsteps: [{name: a, use: pyhelp}]\n")
    box.write(".handrail/workflows/pyhelp/workflow.py", "def resolve(context):\n    return {}\n")
    box.commit()
    answer = box.call("validate", "flow")
    assert "has not been trusted" in answer.text
    assert "did you mean" not in answer.text
