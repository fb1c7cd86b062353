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


def said(step: str, start: str = START) -> list[Diagnostic]:
    report = Report()
    text = start + step
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
        "put text in quotes: 'fast'",
        ("== fast", "== 'fast'"),
    ),
    "yes": ("  - name: do\n    prompt: Do it now.\n    when: yes\n", "write true", ("yes", "true")),
    "curly quotes": (
        "  - name: do\n    prompt: Do it now.\n    when: mode == ‘fast’\n",
        "put text in ' or \"",
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
        "start each item with `- `",
        ("passes", "- passes"),
    ),
    "checks without names": (
        "  - name: do\n    checks: make test\n",
        "name each command: `checks: {test: make test}`; or write `checks: project`",
        ("checks: make test", "checks: {test: make test}"),
    ),
    "a list of checks": (
        "  - name: do\n    checks: ['make a, b']\n",
        'name each command: `checks: {test: "make a, b"}`; or write `checks: project`',
        ("checks: ['make a, b']", 'checks: {test: "make a, b"}'),
    ),
    "a proof without a list": (
        "  - name: do\n    prompt: Do it now.\n    done_when: make test\n",
        "write a list: `done_when: [{passes: make test}]` for a command, or with `expect` for an expression",
        ("done_when: make test", "done_when: [{passes: make test}]"),
    ),
    "a proof without a key": (
        "  - name: do\n    prompt: Do it now.\n    done_when: [make test]\n",
        "write `{passes: make test}` for a command, `{expect: make test}` for an expression",
        ("[make test]", "[{passes: make test}]"),
    ),
    "not, as a tag": (
        "  - name: do\n    prompt: Do it now.\n    when: !true and true  # why\n",
        "write `when: not true and true`",
        ("!true", "not true"),
    ),
    "not, as a tag in braces": (
        "  - {name: do, prompt: Do it now., when: !true}\n",
        "write `when: not true`",
        ("!true", "not true"),
    ),
    "a name as input": (
        "  - name: do\n    prompt: Do {{ way }}\n    input: way\n",
        'name the value: `input: {way: "${way}"}`',
        ("input: way", 'input: {way: "${mode}"}'),
    ),
    "steps as a map": (
        "  - name: do\n    for_each: [1, 2]\n    type: parallel-agents\n    steps:\n      work: {prompt: Do it now.}\n",
        "steps are a list, and each item starts with `- `: `- name: work`",
        ("work: {prompt: Do it now.}", "- name: work\n        prompt: Do it now."),
    ),
    "a step as text": (
        "  - make test\n",
        "a step is a map: `{name: first, command: make test}`, or with `prompt` for an agent",
        ("make test", "{name: first, command: make test}"),
    ),
    **{
        f"type {word}": (
            f"  - name: do\n    type: {word}\n    {key}: Do it now.\n",
            f"write `type: {right}`",
            (f"type: {word}", f"type: {right}"),
        )
        for word, right, key in (
            ("shell", "script", "command"),
            ("bash", "script", "command"),
            ("cmd", "script", "command"),
            ("Run", "script", "command"),
            ("llm", "agent", "prompt"),
            ("check", "gate", "command"),
        )
    },
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


@pytest.mark.parametrize(
    ("key", "hint", "right"),
    [
        ("input: spec", "name it with its type: `input: {spec: string}`", "input: {spec: string}"),
        ("input: 'the spec'", "name it with its type: `input: {the: string}`", "input: {the: string}"),
    ],
)
def test_an_input_without_a_type_is_answered_with_a_fix_that_works(key: str, hint: str, right: str) -> None:
    rest = "steps:\n  - name: do\n    prompt: Do it now.\n"
    assert [found.hint for found in said(rest, f"name: slip\n{key}\n")] == [hint]
    assert said(rest, f"name: slip\n{right}\n") == []


@pytest.mark.parametrize("text", ["make it\\nnow", "x" * 100])
def test_a_value_that_cannot_be_said_on_a_line_is_left_out_of_the_fix(text: str) -> None:
    (found,) = said(f'  - name: do\n    checks: "{text}"\n')
    assert found.hint == "name each command: `checks: {test: ...}`; or write `checks: project`"
