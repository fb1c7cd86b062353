"""`handrail inspect` and `handrail compile` open a workflow up."""

import json

from inline_snapshot import snapshot

from handrail.model.codec import decode
from handrail.model.workflow.plan import Plan
from support.cli.shop import BROKEN, GOOD, Shop

PROMPTED = """\
name: NAME
description: Ask an agent, then check.
input:
  task: string
  issue: issue
steps:
  - name: plan
    prompt: plan
    output: plan
    returns: {risk: low | high}
  - name: each
    type: loop
    for: 2
    max_iterations: 2
    steps:
      - name: work
        when: plan.risk == 'low'
        prompt: Do {{ task }}.
"""
ROUTINE: dict[str, object] = {
    "id": "ideas",
    "name": "Ideas",
    "version": "1.0.0",
    "description": "Has ideas.",
    "steps": [
        {"id": "think", "title": "Think", "prompt": "Think."},
        {
            "id": "ideate",
            "title": "Ideate",
            "templateCall": {"templateId": "wr.templates.routine.ideation", "args": {}},
        },
    ],
}
PYTHON = "def resolve(context):\n    return {'name': 'py', 'steps': [{'name': 'a', 'prompt': 'Do it.'}]}\n"


def prompted(shop: Shop) -> None:
    shop.workflow("ship", PROMPTED)
    shop.write(".handrail/workflows/ship/prompts/10-plan.md", "<!-- version: v3 -->\nPlan {{ task }}.\n")


def test_a_native_workflow_is_shown_section_by_section(shop: Shop) -> None:
    prompted(shop)
    result = shop.call("inspect", "ship")
    assert result.exit_code == 0
    lines = [line for line in result.stdout.splitlines() if not line.startswith("Pinned")]
    assert "\n".join(lines) == snapshot("""\
ship  (repository, yaml)
  Ask an agent, then check.
Path       .handrail/workflows/ship/workflow.yaml
Calls      1 to 3 agent calls
Trust      it has not been trusted
Reviewed   never (handrail lint ship, then handrail stamp ship)

Inputs
  issue  issue, required
  task   string, required

Steps
  plan  agent, default agent (edit), gives plan
  each  loop
    work  agent, default agent (edit), when plan.risk == 'low'

Names
  every step: current_step, env, input, issue, previous_step, project, run,
    steps, task
  each: plan (record {risk})
  each/work: plan, round (int)

Files
  main    .handrail/workflows/ship/workflow.yaml
  prompt  .handrail/workflows/ship/prompts/10-plan.md  v3  used by plan\
""")


def test_the_json_form_has_inputs_steps_names_files_and_bound(shop: Shop) -> None:
    prompted(shop)
    data = shop.json("inspect", "ship")
    assert data["agent_calls"] == {"least": 1, "most": 3}
    assert data["inputs"] == snapshot(
        [
            {"name": "issue", "type": "issue", "required": True, "default": None, "description": ""},
            {"name": "task", "type": "string", "required": True, "default": None, "description": ""},
        ]
    )
    assert [(step["address"], step["kind"]) for step in data["steps"]] == [("plan", "agent"), ("each", "loop")]
    (inner,) = data["steps"][1]["steps"]
    assert (inner["address"], inner["when"], inner["names"]["round"]) == ("each/work", "plan.risk == 'low'", "int")
    assert data["files"] == snapshot(
        [
            {"path": ".handrail/workflows/ship/workflow.yaml", "role": "main", "version": None, "used_by": []},
            {
                "path": ".handrail/workflows/ship/prompts/10-plan.md",
                "role": "prompt",
                "version": "v3",
                "used_by": ["plan"],
            },
        ]
    )


def test_the_steps_of_a_routine_are_one_line_until_expanded(shop: Shop) -> None:
    shop.write(".handrail/workflows/ideas.json", json.dumps(ROUTINE))
    assert "4 steps (--expand shows them)" in shop.call("inspect", "ideas").stdout
    folded = shop.json("inspect", "ideas")["steps"]
    assert [step["name"] for step in folded] == ["think", "ideate"]
    expanded = shop.json("inspect", "ideas", "--expand")["steps"]
    assert len(expanded) == 1 + folded[1]["hidden"]
    assert {step["injected"]["at"] for step in expanded[1:]} == {"ideate"}
    assert "called by step 'ideate'" in shop.call("inspect", "ideas", "--expand").stdout


def test_a_built_in_workflow_is_bounded_as_promised(shop: Shop) -> None:
    assert "Calls      2 to 19 agent calls\n" in shop.call("inspect", "fix-bug").stdout


def test_an_invalid_workflow_shows_what_could_be_read(shop: Shop) -> None:
    shop.workflow("oops", BROKEN)
    result = shop.call("inspect", "oops")
    assert result.exit_code == 4
    assert "oops  (repository, yaml, invalid)" in result.stdout
    assert "unknown key 'acess'" in result.stderr
    assert shop.json("inspect", "oops", code=4)["diagnostics"][0]["line"] == 5


def test_trusted_python_is_shown_for_the_empty_context_and_says_so(shop: Shop) -> None:
    shop.write(".handrail/workflows/py/workflow.py", PYTHON)
    assert shop.call("inspect", "py").exit_code == 3
    shop.call("trust", "py", "--yes")
    result = shop.call("inspect", "py")
    assert result.exit_code == 0
    assert "Note       this workflow is written in Python; it is shown as it is without inputs" in result.stdout
    assert shop.json("inspect", "py")["empty_context"] is True


def test_compile_gives_the_plan_under_its_hash(shop: Shop) -> None:
    shop.workflow("ship")
    data = shop.json("compile", "ship")
    assert list(data) == ["hash", "plan", "agent_calls"]
    assert decode(Plan, data["plan"]).name == "ship"
    assert data["agent_calls"] == {"least": 1, "most": 1}
    assert shop.json("compile", "ship") == data


def test_compile_sums_up_for_people(shop: Shop) -> None:
    shop.workflow("ship")
    lines = shop.call("compile", "ship").stdout.splitlines()
    assert lines[0] == "ship  .handrail/workflows/ship/workflow.yaml"
    assert lines[1].startswith("pinned version sha256:")
    assert lines[2] == "2 steps, 1 agent call"


def test_compile_refuses_what_is_invalid_or_untrusted(shop: Shop) -> None:
    shop.workflow("oops", BROKEN)
    shop.write(".handrail/workflows/py/workflow.py", PYTHON)
    error = shop.json("compile", "oops", code=4)["error"]
    assert (error["code"], error["diagnostics"][0]["code"]) == ("invalid-workflow", "unknown-key")
    assert shop.json("compile", "py", code=3)["error"]["code"] == "untrusted"


def test_a_comment_does_not_change_the_pinned_version(shop: Shop) -> None:
    shop.workflow("ship")
    before = shop.json("compile", "ship")["hash"]
    shop.workflow("ship", "# a comment\n" + GOOD)
    assert shop.json("compile", "ship")["hash"] == before


def test_compiling_python_says_for_which_context(shop: Shop) -> None:
    shop.write(".handrail/workflows/py/workflow.py", PYTHON)
    shop.call("trust", "py", "--yes")
    result = shop.call("compile", "py")
    assert result.exit_code == 0
    assert "without inputs" in result.stderr
    assert "1 step, 1 agent call" in result.stdout


def test_warnings_of_a_valid_workflow_do_not_stop_compiling(shop: Shop) -> None:
    shop.write("flows/b.yaml", GOOD.replace("NAME", "other"))
    result = shop.call("compile", "flows/b.yaml")
    assert result.exit_code == 0
    assert "warning: " in result.stderr
