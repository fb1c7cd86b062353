"""`handrail simulate` walks every branch of a workflow, and draws it."""

from pathlib import Path
from xml.etree import ElementTree as ET

from inline_snapshot import snapshot

from support.cli.shop import BROKEN, Shop

FAULTY = """\
name: NAME
description: a case
input:
  thorough: bool = false
steps:
  - name: look
    when: thorough
    prompt: Look closely.
    output: summary
  - {name: tell, command: "echo ${summary}"}
  - {name: ask, type: approval, message: 'Is "it" <good>?', revise: tell}
  - {name: stop, type: end}
  - {name: late, command: make late}
"""
CLEAN = "name: NAME\ndescription: a case\nsteps:\n  - {name: work, command: make work}\n"


def test_faults_are_told_with_line_path_and_what_to_do(shop: Shop) -> None:
    shop.workflow("ship", FAULTY)
    result = shop.call("simulate", "ship")
    assert result.exit_code == 1
    assert result.output == snapshot("""\
ship  .handrail/workflows/ship/workflow.yaml
Steps      4 of 5 can be reached
Calls      0 to 1 agent calls, no limit on the cost
Explored   all 13 states
Longest    6 moves

Faults     2
  .handrail/workflows/ship/workflow.yaml:10: 'tell' needs 'summary', which
    nothing sets on this path: the run stops there [name-undefined]
    = guard it, as in `summary | default('')`, or make the step that sets it run
      on every path
    path: start: thorough = false
  .handrail/workflows/ship/workflow.yaml:13: 'late' is never reached: the run
    always ends at 'stop' [step-never-reached]
    = fix 'stop', or remove the step

A run can end
  done at stop: start: thorough = true → look: done → tell: done → ask: approved
  failed at tell: start: thorough = true → look: done → tell: fails
  failed at ask: start: thorough = true → look: done → tell: done → ask:
    rejected
  needs you (fault) at tell: start: thorough = false
  needs you (step) at look: start: thorough = true → look: fails
""")


def test_a_workflow_without_faults_exits_with_0(shop: Shop) -> None:
    shop.workflow("ship", CLEAN)
    found = shop.json("simulate", "ship")
    assert found["findings"] == []
    assert [each["status"] for each in found["ends"]] == ["succeeded", "failed"]
    assert found["steps"] == [{"step": "work", "reached": True}]


def test_an_input_that_is_given_is_fixed(shop: Shop) -> None:
    shop.workflow("ship", FAULTY)
    found = shop.json("simulate", "ship", "--input", "thorough=true", code=1)
    assert [each["code"] for each in found["findings"]] == ["step-never-reached"]


def test_what_was_cut_is_said_and_is_no_fault(shop: Shop) -> None:
    shop.workflow("ship", CLEAN)
    result = shop.call("simulate", "ship", "--max-paths", "1")
    assert result.exit_code == 0
    assert "explore the rest" in result.output


def test_an_invalid_workflow_exits_with_4_and_a_wrong_call_with_2(shop: Shop) -> None:
    shop.workflow("broken", BROKEN)
    shop.workflow("ship", CLEAN)
    assert shop.call("simulate", "broken").exit_code == 4
    assert shop.call("simulate", "ship", "--input", "nothing").exit_code == 2
    assert shop.call("simulate", "ship", "--draw", "ascii").exit_code == 2


def test_the_flow_is_drawn_as_text_in_80_columns(shop: Shop) -> None:
    shop.workflow("ship", FAULTY)
    result = shop.call("simulate", "ship", "--draw", "text")
    assert max(map(len, result.output.splitlines())) <= 80
    assert result.output == snapshot("""\
● ship
├─ if thorough
│  ├─ ▪ look  agent
├─ ▪ tell  script
├─ ? ask  approval
│  ✗ rejected: the run ends, failed
│  ↩ sent back: tell
├─ ■ stop  the run ends, succeeded
├─ ▪ late  script   ✗ never reached
■ done
""")


def test_the_flow_is_drawn_for_mermaid_with_its_labels_escaped(shop: Shop) -> None:
    shop.workflow("ship", FAULTY)
    assert shop.call("simulate", "ship", "--draw", "mermaid").output == snapshot("""\
flowchart TD
    n0(["ship"])
    n1{"thorough"}
    n2["look (agent)"]
    n3["tell (script)"]
    n4[/"ask (approval)"/]
    n5(["stop (end, succeeded)"])
    n6["late (script)"]
    n7(["done"])
    n0 --> n1
    n1 -->|"yes"| n2
    n2 --> n3
    n1 -->|"no"| n3
    n3 --> n4
    n4 -->|"revise"| n3
    n4 -->|"approved"| n5
    n6 --> n7
    classDef never stroke-dasharray: 4 4,stroke:#d33
    class n6 never
""")


FAN_OUT = """\
name: NAME
steps:
  - name: spread
    type: parallel-agents
    for_each: [a, b]
    steps: [{name: look, command: "true"}]
  - {name: last, command: "true"}
"""


def test_a_fan_out_is_drawn_as_parts_that_come_together_and_not_as_a_loop(shop: Shop) -> None:
    shop.workflow("fan", FAN_OUT)
    drawn = shop.call("simulate", "fan", "--draw", "mermaid").output
    assert "again" not in drawn
    assert drawn == snapshot("""\
flowchart TD
    n0(["fan"])
    n1[["spread (parallel-agents)"]]
    n2["look (script)"]
    n3["last (script)"]
    n4(["done"])
    n0 --> n1
    n1 -->|"each"| n2
    n2 -->|"all done"| n3
    n1 -->|"no items"| n3
    n3 --> n4
""")


def test_the_flow_is_drawn_as_valid_xml_into_a_file(shop: Shop, tmp_path: Path) -> None:
    shop.workflow("ship", FAULTY)
    file = tmp_path / "flow.svg"
    result = shop.call("simulate", "ship", "--draw", "svg", "-o", str(file))
    assert f"wrote {file}" in result.output
    drawn = ET.fromstring(file.read_text("utf-8"))
    assert drawn.tag.endswith("svg")
    assert "ship" in "".join(drawn.itertext())
