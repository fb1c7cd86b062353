"""A stamp changes one line and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from handrail.authoring.read import read_bundle
from handrail.model.diagnostics import Report
from handrail.model.source import Bundle, Document, SourceText
from handrail.operations.workflows.stamp_text import insert_stamp


def document(text: str, main: str = "workflow.yaml") -> Document:
    read = read_bundle(Bundle(main, {main: SourceText(main, text)}), Report())
    assert read is not None
    return read


def yaml(text: str, version: int = 3) -> str | None:
    return insert_stamp(document(text), version)


def json(text: str, version: int = 3) -> str | None:
    return insert_stamp(document(text, "workflow.json"), version)


def test_a_new_stamp_stands_below_the_description() -> None:
    text = "# mine\nname: fix-bug   # its name\ndescription: Fixes.  # yes\n\nsteps:\n  - prompt: Do it.\n"
    assert yaml(text) == snapshot("""\
# mine
name: fix-bug   # its name
description: Fixes.  # yes
validated_against_spec: 3

steps:
  - prompt: Do it.
""")


def test_without_a_description_it_stands_below_the_name() -> None:
    assert yaml("name: fix-bug\nsteps: []\n") == "name: fix-bug\nvalidated_against_spec: 3\nsteps: []\n"


def test_a_block_description_ends_before_the_stamp() -> None:
    text = "name: fix-bug\ndescription: |\n  One.\n\n  Two.\n\n# about the steps\nsteps: []\n"
    assert yaml(text) == snapshot("""\
name: fix-bug
description: |
  One.

  Two.
validated_against_spec: 3

# about the steps
steps: []
""")


def test_a_description_on_several_plain_lines_ends_before_the_stamp() -> None:
    text = "name: fix-bug\ndescription: One\n  two\n  three   # end\nsteps: []\n"
    assert yaml(text) == snapshot("""\
name: fix-bug
description: One
  two
  three   # end
validated_against_spec: 3
steps: []
""")


def test_an_old_stamp_is_replaced_where_it_stands() -> None:
    text = "name: x\nsteps: []\nvalidated_against_spec:   2   # by me\n"
    assert yaml(text) == "name: x\nsteps: []\nvalidated_against_spec:   3   # by me\n"


def test_a_file_without_a_final_line_break_gets_none() -> None:
    assert yaml("steps: []\nname: x") == "steps: []\nname: x\nvalidated_against_spec: 3"


def test_windows_line_breaks_and_a_byte_order_mark_stay() -> None:
    assert yaml("\ufeffname: x\r\nsteps: []\r\n") == "\ufeffname: x\r\nvalidated_against_spec: 3\r\nsteps: []\r\n"


def test_flow_style_is_stamped_in_flow_style() -> None:
    assert yaml("{name: x, steps: []}\n") == "{name: x, validated_against_spec: 3, steps: []}\n"


def test_an_indented_document_keeps_its_indentation() -> None:
    assert yaml("  name: x\n  steps: []\n") == "  name: x\n  validated_against_spec: 3\n  steps: []\n"


def test_json_gets_the_stamp_below_its_version_with_the_same_indentation() -> None:
    text = '{\n    "id": "x",\n    "version": "1.0.0",\n    "steps": []\n}\n'
    assert json(text) == snapshot("""\
{
    "id": "x",
    "version": "1.0.0",
    "validatedAgainstSpecVersion": 3,
    "steps": []
}
""")


def test_json_on_one_line_stays_on_one_line() -> None:
    assert json('{"id": "x", "version": "1"}') == '{"id": "x", "version": "1", "validatedAgainstSpecVersion": 3}'


def test_json_stamps_are_replaced_in_place() -> None:
    text = '{"validatedAgainstSpecVersion" :  2 ,"id":"x"}'
    assert json(text) == '{"validatedAgainstSpecVersion" :  3 ,"id":"x"}'


@pytest.mark.parametrize("text", ["steps: []\n", "validated_against_spec: [1]\nname: x\n"])
def test_where_there_is_no_safe_place_nothing_is_given(text: str) -> None:
    assert yaml(text) is None


PIECES = (
    "name: fix-bug\n",
    "description: >-\n    folded\n\n    text\n",
    "# a comment\n",
    "steps:\n- prompt: a b\n",
    "\n",
)


@given(st.permutations(PIECES), st.sampled_from(["\n", "\r\n"]), st.integers(1, 99))
def test_stamping_adds_one_line_and_doing_it_again_changes_nothing(
    pieces: list[str], line_break: str, version: int
) -> None:
    text = "".join(pieces).replace("\n", line_break)
    once = yaml(text, version)
    assert once is not None
    assert yaml(once, version) == once
    assert once.replace(f"validated_against_spec: {version}{line_break}", "", 1) == text
