"""What a value of a workflow file comes to in a run."""

import json

import pytest

from handrail.engine.state.scope import value_of
from handrail.model.history.run_state import RunState
from handrail.model.workflow.values import JsonValue
from support.compiler.native_case import compile_text, shown

WORKFLOW = """
name: x
input: {{xs: json, name: string, n: int}}
steps:
  - {{name: a, type: workflow, workflow: other, input: {{value: {text}}}}}
"""
OTHER = "name: other\ninput: {value: json}\nsteps: [{name: b, command: 'true'}]\n"
STATE = RunState(
    run="x-1", status="running", plan="", definition="", workflow="x", inputs={}, workspace="", started_at=0.0
)
SCOPE: dict[str, JsonValue] = {"xs": [1, 2], "name": "Ada", "n": 3}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${xs}", [1, 2]),
        ("${n}", 3),
        (" ${n}", " 3"),
        ("a ${name}, ${n + 1}", "a Ada, 4"),
        ("$${name} $name", "${name} $name"),
        ("${{ github.sha }}", "${{ github.sha }}"),
        ("${ {'a': '}'}.a }", "}"),
        ("${'${'}x}", "${x}"),
        ("", ""),
        ("${xs} and ${xs}", "[1, 2] and [1, 2]"),
    ],
)
def test_a_lone_placeholder_keeps_its_type_and_others_become_text(text: str, expected: object) -> None:
    compiled, _, _ = compile_text(WORKFLOW.format(text=json.dumps(text)), workflows={"other": OTHER})
    assert compiled.plan is not None, shown(compiled.diagnostics)
    (given,) = compiled.plan.steps[0].input
    assert value_of(given.value, STATE, SCOPE) == expected
