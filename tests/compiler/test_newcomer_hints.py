"""Slips of people who write their first workflow: each hint, applied as it stands, makes the workflow valid."""

import pytest

from handrail.authoring.read import read_bundle
from handrail.compiler.catalog import Catalog
from handrail.compiler.compile import compile_document
from handrail.model.diagnostics import Diagnostic, Report
from handrail.model.source import Bundle, SourceText
from handrail.sources.library import builtins

START = """\
name: slip
input:
  mode: fast | slow
steps:
  - name: my-plan
    prompt: Make a plan.
    returns:
      test: path
"""


def said(step: str) -> list[Diagnostic]:
    report = Report()
    text = START + step
    document = read_bundle(Bundle("workflow.yaml", {"workflow.yaml": SourceText("workflow.yaml", text)}), report)
    if document is not None:
        compile_document(document, Catalog(builtins()), report)
    return list(report)


SLIPS = {
    "step for value": (
        "  - name: do\n    prompt: Do {{ my_plan }}\n",
        "write steps.my_plan.output, or give that step the key `output: my_plan`",
        ("my_plan", "steps.my_plan.output"),
    ),
    "field of the result": (
        "  - name: do\n    prompt: Do {{ steps.my_plan.test }}\n",
        "it is a field of the result: write `steps.my_plan.output.test`",
        ("my_plan.test", "my_plan.output.test"),
    ),
    "a step as condition": (
        "  - name: do\n    prompt: Do it now.\n    when: steps.my_plan\n",
        "write `steps.my_plan.status == 'succeeded'`",
        ("steps.my_plan", "steps.my_plan.status == 'succeeded'"),
    ),
    "text without quotes": (
        "  - name: do\n    prompt: Do it now.\n    when: mode == fast\n",
        "a text needs quotes: 'fast'",
        ("== fast", "== 'fast'"),
    ),
    "yes": ("  - name: do\n    prompt: Do it now.\n    when: yes\n", "write true", ("yes", "true")),
    "curly quotes": (
        "  - name: do\n    prompt: Do it now.\n    when: mode == ‘fast’\n",
        "texts stand in ' or \"",
        ("‘fast’", "'fast'"),
    ),
    "braces in a value": (
        "  - name: do\n    type: approval\n    message: {{ run.id }}\n",
        'write message: "${run.id}"',
        ("{{ run.id }}", '"${run.id}"'),
    ),
    "no space": ("  - name: do\n    prompt:Do it now.\n", "write prompt: Do it now.", ("prompt:", "prompt: ")),
    "text not indented": (
        "  - name: do\n    prompt: |\n    Do it now.\n",
        "indent every line of the text further than its key",
        ("    Do", "      Do"),
    ),
    "no dashes": (
        "  - name: do\n    prompt: Do it now.\n    done_when:\n      passes: make\n",
        "begin each item with `- `",
        ("passes", "- passes"),
    ),
    "a bare sum": (
        "  - name: do\n    prompt: Do it now.\n    budget: 5\n",
        "its keys are usd, tokens, minutes, agent_calls, at_limit, unknown_price",
        ("5", "{usd: 5}"),
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_answered_with_a_fix_that_works(slip: str) -> None:
    text, hint, (wrong, right) = SLIPS[slip]
    assert [found.hint for found in said(text)] == [hint]
    assert said(text.replace(wrong, right)) == []
