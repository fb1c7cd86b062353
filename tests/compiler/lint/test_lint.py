import json
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from handrail.compiler.lint import LINTS, lint
from handrail.model.codes import CODES
from handrail.model.diagnostics import Severity
from support.compiler.native_case import compile_library, compile_text, lint_text, shown, workflow
from support.places import WORKRAIL

ADVICE = {
    "unused-output",
    "single-dimension",
    "same-dimension",
    "vibes-only",
    "lazy-wording",
    "reference-for-authors",
    "wrapped-condition",
    "hidden-by-and",
}


@pytest.mark.parametrize("name", ["fix-bug", "implement-spec", "review-loop", "deps-nightly", "workflow-for-workflows"])
def test_the_library_gives_nothing_to_say_but_that_no_schedule_fires(name: str) -> None:
    found = tuple(each for each in lint(*compile_library(name)) if each.code != "not-used-yet")
    assert shown(found) == ""


@pytest.mark.parametrize("path", sorted(WORKRAIL.rglob("*.json")), ids=lambda path: path.stem)
def test_workflows_in_use_give_advice_and_no_warning(path: Path) -> None:
    compiled, document, catalog = compile_text(path.read_text("utf-8"), main="workflow.json")
    found = lint(compiled, document, catalog)
    assert [each for each in found if each.severity is not Severity.ADVICE] == []
    assert {each.code for each in found} <= {"single-dimension", "vibes-only", "reference-for-authors"}


def test_every_lint_has_a_stable_code() -> None:
    assert set(LINTS) <= set(CODES)


def test_a_workflow_with_errors_is_not_linted() -> None:
    compiled, document, catalog = compile_text(workflow("- {name: a, type: script, command: make, when: nobody}"))
    assert not compiled.ok
    assert lint(compiled, document, catalog) == ()


MANY = workflow("""
    - {name: plan, prompt: Make a plan. You may skip it., output: plan}
    - {name: b, type: script, command: make, access: read, when: true}
    - {name: c, type: gate, command: npm test && npm run lint}
    - {name: d, type: end}
    - {name: e, prompt: look}
""")


def test_findings_come_in_the_order_of_the_files_with_their_severity() -> None:
    compiled, document, catalog = compile_text(MANY, {"prompts/look.md": "Do a light scan.\n"})
    found = lint(compiled, document, catalog)
    assert shown(found) == snapshot("""\
workflow.yaml:4:39 lazy-wording 'You may' sets no minimum, so the least possible effort is good enough
workflow.yaml:4:65 unused-output nothing reads the output 'plan'
workflow.yaml:5:44 no-effect `access` has no effect on a script step
workflow.yaml:5:64 constant-condition `when` is always true, so the step always runs
workflow.yaml:6:45 hidden-by-and `&&` hides what fails after the first failing check
workflow.yaml:8:12 unreachable-step step 'e' is never reached: the run always ends at 'd'
prompts/look.md:1:6 lazy-wording 'light scan' sets no minimum, so the least possible effort is good enough\
""")
    assert all((each.severity is Severity.ADVICE) == (each.code in ADVICE) for each in found)


def test_every_finding_says_what_to_do() -> None:
    compiled, document, catalog = compile_text(MANY, {"prompts/look.md": "Do a light scan.\n"})
    hints = [each.hint for each in lint(compiled, document, catalog)]
    assert hints == snapshot(
        [
            "state in the same or the next sentence what is required nonetheless: at least …, enough to …",
            "read it in a later step, as `${plan}` or `{{ plan }}`, or remove `output`",
            "remove it; no agent is called here",
            "leave `when` out",
            "give each check its own name under `checks`, so that all of them run: `npm test`, `npm run lint`",
            "give 'd' a `when`, or remove what comes after it",
            "state in the same or the next sentence what is required nonetheless: at least …, enough to …",
        ]
    )


def test_the_same_workflow_gives_the_same_findings() -> None:
    files = {"prompts/look.md": "Do a light scan.\n"}
    assert lint_text(MANY, files) == lint_text(MANY, files)


def test_steps_of_a_used_routine_are_linted_where_they_are_written() -> None:
    routine = workflow("- {name: b, type: script, command: make, access: read, output: unread}\n- {name: c, type: end}")
    assert lint_text(workflow("- {name: a, use: other}"), workflows={"other": routine}) == ""


def test_a_prompt_file_of_two_steps_is_reported_once() -> None:
    steps = "- {name: a, prompt: look}\n- {name: b, prompt: look}"
    found = lint_text(workflow(steps), {"prompts/look.md": "<!-- Version: v1 -->\nDo a light scan.\n"})
    assert found == snapshot(
        "prompts/look.md:2:6 lazy-wording 'light scan' sets no minimum, so the least possible effort is good enough"
    )


def test_positions_in_json_strings_are_exact() -> None:
    step = {"id": "say-yes", "title": "A", "prompt": 'Say "yes".\n\nThen do a light scan.'}
    root = {"id": "case-a", "name": "c", "description": "d", "version": "1.0.0", "steps": [step]}
    text = json.dumps(root)
    compiled, document, catalog = compile_text(text, main="workflow.json")
    (found,) = lint(compiled, document, catalog)
    assert text[found.column - 1 : found.end_column - 1] == "light scan"
