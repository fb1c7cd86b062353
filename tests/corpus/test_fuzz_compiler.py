"""Laws of compiling: whatever a file holds, the answer is a plan or diagnostics, never an exception."""

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handrail.authoring.native.schema import WORKFLOW as NATIVE
from handrail.authoring.workrail.schema import WORKFLOW as GUIDED
from handrail.model.diagnostics import MAX_DIAGNOSTICS
from handrail.model.source import Bundle, SourceText
from handrail.model.workflow.values import JsonValue
from support.corpus.loading import LIBRARY, Case, bundle_of, cases, catalog_of, diagnose_bundle
from support.corpus.shaped import shaped

SAMPLES = [bundle_of(Case(path, path)) for path in sorted(LIBRARY.glob("workflows/*/workflow.yaml"))]
ROUTINES = [
    Bundle(path.name, {path.name: SourceText(path.name, path.read_text())})
    for path in sorted(LIBRARY.glob("routines/*.json"))
]
BROKEN = [bundle_of(case) for case in cases()]
CATALOG = catalog_of()

TOKENS = st.sampled_from(
    [
        "",
        " ",
        "\n",
        "  ",
        "- ",
        ": ",
        "null",
        "true",
        "3",
        "-1",
        "1e400",
        "[]",
        "{}",
        '""',
        "''",
        "${",
        "${x}",
        "${steps.a.b}",
        "{{ item }}",
        "{% if x %}",
        "{% endif %}",
        "}}",
        "$(",
        "`",
        "'",
        '"',
        "\\",
        "|",
        "&a ",
        "*a",
        "name",
        "steps",
        "prompt",
        "use",
        "workflow",
        "type",
        "loop",
        "parallel-agents",
        "review-loop",
        "wr.templates.routine.design-review",
        "{{wr.bindings.x}}",
        "schemas/x.json",
        "prompts/10-reproduce.md",
        "../x.md",
        "issue",
        "a | b",
        "\x00",
        "😀",
    ]
)


@st.composite
def edited_lines(draw: st.DrawFn, text: str) -> str:
    """Lines taken out, doubled, swapped or indented otherwise."""
    lines = text.split("\n")
    for _ in range(draw(st.integers(1, 3))):
        first = draw(st.integers(0, len(lines) - 1))
        second = draw(st.integers(0, len(lines) - 1))
        match draw(st.sampled_from(["delete", "double", "swap", "indent", "dedent"])):
            case "delete":
                lines[first] = ""
            case "double":
                lines.insert(second, lines[first])
            case "swap":
                lines[first], lines[second] = lines[second], lines[first]
            case "indent":
                lines[first] = "  " + lines[first]
            case _:
                lines[first] = lines[first].removeprefix("  ")
    return "\n".join(lines)


@st.composite
def edited_words(draw: st.DrawFn, text: str) -> str:
    """Words replaced by others of the file, by words of the format, or by any characters."""
    words = text.split(" ")
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(words) - 1))
        words[at] = draw(TOKENS | st.sampled_from(words) | st.text(max_size=4))
    return " ".join(words)


@st.composite
def mutated(draw: st.DrawFn, bundles: list[Bundle]) -> Bundle:
    """One of several workflows with one of its files changed a little."""
    bundle = draw(st.sampled_from(bundles))
    path = draw(st.sampled_from([bundle.main, bundle.main, *bundle.files]))
    text = bundle.files[path].text
    changed = draw(edited_lines(text) | edited_words(text))
    return Bundle(bundle.main, {**bundle.files, path: SourceText(path, changed)}, bundle.refused)


def check(bundle: Bundle) -> None:
    report = diagnose_bundle(bundle, CATALOG)
    assert len(report.diagnostics) <= MAX_DIAGNOSTICS
    for found in report:
        assert found.message
        assert found.line >= 1
        assert 1 <= found.column < found.end_column


@given(mutated(SAMPLES))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_change_to_a_sound_workflow_makes_the_compiler_raise(bundle: Bundle) -> None:
    check(bundle)


@given(mutated(BROKEN))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_change_to_a_broken_workflow_makes_the_compiler_raise(bundle: Bundle) -> None:
    check(bundle)


@given(mutated(ROUTINES))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_change_to_a_guided_workflow_makes_the_compiler_raise(bundle: Bundle) -> None:
    check(bundle)


def written(value: JsonValue, name: str) -> Bundle:
    # JSON is YAML too, so both readers take it
    text = json.dumps(value, indent=1, ensure_ascii=False)
    beside = {
        "prompts/10-fix.md": "<!-- version: 2 -->\nFix {{ item.name }} of {{ tasks }}.\n",
        "schemas/x.json": '{"type": "object"}',
    }
    files = {path: SourceText(path, content) for path, content in {name: text, **beside}.items()}
    return Bundle(name, files)


@given(shaped(NATIVE))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_no_native_workflow_of_the_right_form_makes_the_compiler_raise(value: JsonValue) -> None:
    check(written(value, "workflow.yaml"))


@given(shaped(GUIDED))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_no_guided_workflow_of_the_right_form_makes_the_compiler_raise(value: JsonValue) -> None:
    check(written(value, "workflow.json"))
