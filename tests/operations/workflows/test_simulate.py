"""Simulating joins the catalog, the plan, its places and its bounds."""

from handrail.operations.workflows.simulate import simulate_plan
from support.compiler.native_case import compile_text

CALLING = """\
name: calling
description: a case
budget: {usd: 3}
steps:
  - {name: call, type: workflow, workflow: inner, output: found}
  - {name: never, when: "found.verdict == 'bad'", command: make never}
"""
INNER = """\
name: inner
description: a case
steps:
  - {name: judge, prompt: Judge it., output: verdict, returns: good | bad}
"""


def test_what_a_called_workflow_gives_decides_what_follows() -> None:
    compiled, _, catalog = compile_text(CALLING, workflows={"inner": INNER})
    assert compiled.plan is not None
    found = simulate_plan(compiled.plan, catalog, compiled.places)
    assert found.exit_code == 0
    assert found.bound.most == 1


def test_findings_stand_in_the_file_of_the_workflow() -> None:
    compiled, _, catalog = compile_text(CALLING, workflows={"inner": INNER.replace("good | bad", "good | fine")})
    assert compiled.plan is not None
    found = simulate_plan(compiled.plan, catalog, compiled.places)
    assert [(each.finding.place, each.file, each.line) for each in found.findings] == [("never", "workflow.yaml", 6)]
    assert found.exit_code == 1


def test_a_workflow_that_calls_itself_is_not_looked_into_twice() -> None:
    inner = INNER.replace("steps:\n", "steps:\n  - {name: again, type: workflow, workflow: inner}\n")
    compiled, _, catalog = compile_text(CALLING, workflows={"inner": inner})
    assert compiled.plan is not None
    assert not simulate_plan(compiled.plan, catalog, compiled.places).explored.cut
