"""A workflow written as `async def run(ctx)` calls agents, and says under which names and how often.

`HANDRAIL_UNDER_TEST=/path/to/handrail pytest tests/first_use` tries another installation.
"""

import pytest

from support.security.black_box import Answer, BlackBox

pytestmark = pytest.mark.system  # takes long: many processes of its own

FLOW = '''\
"""Codes until it is verified."""
from handrail import Agent


async def run(ctx):
    await ctx.run_step(Agent("coding", prompt="Write it down.", access="edit"))
    tries = 0
    while tries < 3:
        tries += 1
        if (await ctx.run_step("verify", command="grep -q right app.txt")).success:
            break
        await ctx.run_step(Agent("repair", prompt="Make it right.", access="edit"))
    answer = await ctx.approve("Keep it?")
    return {"tries": tries, "kept": answer.approved}
'''
SCRIPT = """\
flow/coding: [{files: {app.txt: "wrong"}, say: written}]
flow/repair: [{files: {app.txt: "right"}, say: repaired}]
"""


def write(box: BlackBox, head: str = "") -> None:
    """Write the flow as one of the person's own, and what the agents play."""
    box.write_own("workflows/writes/workflow.py", FLOW.replace("from handrail", f"{head}from handrail", 1))
    (box.base / "script.yaml").write_text(SCRIPT)


def start(box: BlackBox) -> Answer:
    """Run the flow up to its approval."""
    return box.call("run", "writes", "--agent", "scripted", "--script", str(box.base / "script.yaml"))


def test_a_flow_calls_agents_and_its_calls_have_their_names(box: BlackBox) -> None:
    write(box)
    asked = start(box)
    assert asked.exit_code == 3, asked.text
    assert box.call("approve", "writes-1").exit_code == 0
    run = box.call("show", "writes-1", "--json").document
    calls = [each["address"] for each in run["steps"] if each["address"].startswith("flow/")]
    assert calls == ["flow/coding", "flow/verify", "flow/repair", "flow/verify#2", "flow/approve"]
    assert run["outputs"]["flow"] == {"tries": 2, "kept": True}
    assert box.call("show", "writes-1", "flow/repair", "--transcript").exit_code == 0
    for command in ("why", "cost", "logs"):
        told = box.call(command, "writes-1")
        assert "flow/coding" in told.out, told.text


def test_the_number_of_its_agent_calls_is_unknown_unless_it_says_a_bound(box: BlackBox) -> None:
    write(box)
    unknown = "an unknown number of agent calls"
    assert unknown in box.call("inspect", "writes").out
    assert unknown in box.call("simulate", "writes").out
    assert unknown in start(box).text.splitlines()[0]
    write(box, "from handrail import Budget\nbudget = Budget(agent_calls=1)\n")
    assert "0 to 1 agent calls" in box.call("inspect", "writes").out
    stopped = start(box)
    assert stopped.exit_code == 5, stopped.text
    assert "1 agent call" in stopped.text
