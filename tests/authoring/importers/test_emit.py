import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from handrail.authoring.importers.emit import emit_workflow
from handrail.authoring.readers.yaml_reader import read_yaml
from handrail.model.diagnostics import Report
from handrail.model.source import SourceText, plain
from handrail.model.workflow.values import JsonValue

TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40) | st.text(
    alphabet=" \n\t:#-'\"\\|>&*!%@`{}[],?~=.0123456789abeEnoxyYTZ_$", max_size=24
)
SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
)
DATA: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
AMBIGUOUS = [
    *(
        "on",
        "off",
        "yes",
        "no",
        "y",
        "N",
        "true",
        "null",
        "~",
        "1",
        "1.0",
        "1e3",
        "0x1f",
        "0o7",
        "012",
        "1_000",
        "1:30",
    ),
    *(
        "2024-01-01",
        ".5",
        ".inf",
        "-1",
        "+1",
        "a: b",
        "a:",
        "a #b",
        "#a",
        "*a",
        "&a",
        "!a",
        "%a",
        "@a",
        "`a",
        "- a",
        "?",
    ),
    *(
        "{a}",
        "[a]",
        "a\tb",
        " a",
        "a ",
        "",
        "'a'",
        '"a"',
        "---",
        "...",
        "<<",
        "=",
        ",",
        "|",
        ">",
        "a\\b",
        "é",
        "\u2028",
    ),
]


def _read(text: str) -> object:
    report = Report()
    root = read_yaml(SourceText("x.yaml", text), report)
    assert [found.message for found in report] == []
    assert root is not None
    return plain(root)


@given(st.dictionaries(TEXTS, DATA, min_size=1, max_size=4))
def test_reading_what_was_written_gives_the_data_again(data: dict[str, JsonValue]) -> None:
    assert _read(emit_workflow(data)) == data


@pytest.mark.parametrize("text", AMBIGUOUS)
def test_readers_of_both_versions_see_the_same_text(text: str) -> None:
    written = emit_workflow({"key": text, "list": [text]})
    assert _read(written) == {"key": text, "list": [text]}
    assert yaml.safe_load(written) == {"key": text, "list": [text]}


@pytest.mark.parametrize(
    "text", ["${x}", "${a.b} text", "a, b", "30m", "pytest -q", "a == 'b'", "prompts/10-a.md", "é b"]
)
def test_texts_that_nobody_misreads_need_no_quotes(text: str) -> None:
    assert emit_workflow({"key": text}) == f"key: {text}\n" or not text[0].isascii()


def test_the_written_form_is_readable() -> None:
    data: dict[str, JsonValue] = {
        "name": "one",
        "input": {"on": "string"},
        "steps": [
            {"name": "a", "prompt": "First line\n\n  indented: yes\n"},
            {"name": "b", "with": {"base": "${base}", "empty": []}, "list": ["x", ["y", {"z": None}]]},
        ],
    }
    assert emit_workflow(data) == snapshot("""\
name: one

input:
  "on": string

steps:
  - name: a
    prompt: |
      First line

        indented: yes

  - name: b
    with:
      base: ${base}
      empty: []
    list:
      - x
      - - "y"
        - z: null
""")


def test_half_characters_are_replaced() -> None:
    assert _read(emit_workflow({"a": "x\ud800"})) == {"a": "x\ufffd"}
