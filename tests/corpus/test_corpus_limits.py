"""Files that go past a limit: each is refused where the limit is met, in bounded time and memory."""

import json
import tracemalloc

import pytest

from handrail.authoring.read import read_bundle
from handrail.authoring.readers.limits import MAX_BYTES, MAX_DEPTH, MAX_NODES
from handrail.compiler.catalog import Catalog
from handrail.compiler.native.calls import MAX_STEPS
from handrail.model.diagnostics import MAX_DIAGNOSTICS, Report
from handrail.model.source import Bundle, SourceText
from support.compiler.named_workflows import NamedWorkflows
from support.corpus.loading import as_text, catalog_of, diagnose_bundle

pytestmark = pytest.mark.system  # takes long

HEAD = "name: limits\n"
STEP = {"id": "plan-it", "title": "Plan it", "prompt": "Plan the work."}


def bundle(text: str, name: str = "workflow.yaml") -> Bundle:
    return Bundle(name, {name: SourceText(name, text)})


def said(text: str, name: str = "workflow.yaml", catalog: Catalog | None = None) -> str:
    return as_text(list(diagnose_bundle(bundle(text, name), catalog or catalog_of())), name)


def workrail(**more: object) -> str:
    top = {"id": "team.limits", "name": "Limits", "description": "Past them.", "version": "1.0.0"}
    return json.dumps({**top, **more}, indent=1)


@pytest.mark.parametrize("name", ["workflow.yaml", "workflow.json"])
def test_a_file_of_one_byte_too_many_is_refused(name: str) -> None:
    text = HEAD + "#" * (MAX_BYTES + 1 - len(HEAD))
    assert said(text, name) == (
        "1:1: error: the file is larger than 1 MiB [file-too-large]\n"
        "  = move long texts to separate files, such as prompts/NAME.md\n"
    )


def test_a_file_of_many_wide_characters_is_measured_in_bytes() -> None:
    assert "[file-too-large]" in said(HEAD + "# " + "😀" * (MAX_BYTES // 4))


def test_yaml_that_nests_too_deep_is_refused_at_the_bracket_too_many() -> None:
    # the file's own map and `input` are the first two levels
    text = HEAD + "input: " + "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert said(text) == (
        f"2:{len('input: ') + MAX_DEPTH}: error: the file is nested deeper than 64 levels [too-deep]\n"
        "  = flatten the file; no part of the format is nested that deeply\n"
    )


def test_json_that_nests_too_deep_is_refused_at_the_bracket_too_many() -> None:
    start = '{"steps": '
    found = said(start + "[" * MAX_DEPTH + "]" * MAX_DEPTH + "}", "workflow.json")
    assert found.startswith(f"1:{len(start) + MAX_DEPTH}: error: the file is nested deeper than 64 levels [too-deep]")


@pytest.mark.parametrize("name", ["workflow.yaml", "workflow.json"])
@pytest.mark.parametrize("sign", ["[", "{", '{"a":', "[[", "- ", "? "])
def test_a_hundred_thousand_brackets_give_one_diagnostic(name: str, sign: str) -> None:
    found = said(sign * 100_000, name)
    assert found.count(": error: ") == 1
    assert len(found) < 1_000


def test_a_billion_laughs_are_refused_at_the_alias_that_goes_too_far() -> None:
    lines = ["a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, 10)]
    assert said(HEAD + "\n".join(lines)) == (
        "7:10: error: aliases expand the file to more than 200,000 values [alias-refused]\n  = write the values out\n"
    )


@pytest.mark.parametrize("name", ["workflow.yaml", "workflow.json"])
def test_one_value_too_many_is_refused(name: str) -> None:
    found = said("[" + "1," * MAX_NODES + "1]", name)
    assert "error: the file contains more than 200,000 values [too-many-nodes]" in found


def test_findings_past_the_limit_are_counted_and_not_kept() -> None:
    text = HEAD + "steps:\n" + "".join(f"  - name: {number}\n" for number in range(MAX_DIAGNOSTICS + 50))
    report = diagnose_bundle(bundle(text), catalog_of())
    assert len(list(report)) == MAX_DIAGNOSTICS
    assert report.dropped > 0


def test_a_workflow_of_more_findings_than_are_kept_is_still_refused() -> None:
    steps = "".join(
        f"  - {{name: s{number}, command: make, when: nothing}}\n" for number in range(MAX_DIAGNOSTICS + 50)
    )
    report = diagnose_bundle(bundle(HEAD + "steps:\n" + steps), catalog_of())
    assert report.failed


def test_routines_cannot_multiply_without_end() -> None:
    def text(level: int) -> str:
        uses = "".join(f"  - {{name: s{each}, use: level-{level + 1}}}\n" for each in range(20))
        body = uses if level < 7 else "  - {name: last, command: make}\n"
        return f"name: level-{level}\nsteps:\n{body}"

    levels = {f"level-{level}": read_bundle(bundle(text(level)), Report()) for level in range(1, 8)}
    found = said(text(0), catalog=Catalog(catalog_of().builtins, None, NamedWorkflows(levels.get)))
    assert f"has more than {MAX_STEPS} steps" in found
    assert "[too-many-steps]" in found


def test_a_guided_workflow_of_too_many_steps_is_refused_at_its_steps() -> None:
    found = said(workrail(steps=[{**STEP, "id": f"step-{number}"} for number in range(2001)]), "workflow.json")
    assert found.startswith("6:2: error: the workflow has more than 2000 steps [too-many-steps]")


def test_a_full_file_is_checked_in_bounded_memory() -> None:
    step = (
        '  - {name: step-%d, prompt: "Work on {{ nothing }} and ${x}", when: "a == b", done_when: [{passes: "${y}"}]}\n'
    )
    steps = "".join(step % number for number in range(4_000))
    tracemalloc.start()
    report = diagnose_bundle(bundle(HEAD + "steps:\n" + steps), catalog_of())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert report.failed
    assert peak < 400 * MAX_BYTES
