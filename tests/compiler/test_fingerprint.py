"""The hash sees everything that has a meaning, and nothing else."""

import json
import subprocess
import sys
from collections.abc import Callable

import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from handrail.compiler.fingerprint import canonical
from handrail.model.workflow.values import JsonValue
from support.compiler.native_case import compile_text
from support.places import TESTS

BASE = """\
name: a
description: first
input:
  base: string = main
  width: int = 3
steps:
  - name: one
    prompt: ask
    output: answer
    when: base == 'main'
  - name: two
    type: script
    command: echo "${answer}"
"""
PROMPT = {"prompts/10-ask.md": "<!-- Version: v1 -->\nDo {{ base }}.\n"}

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


def hash_of(text: str, files: dict[str, str] | None = None) -> str:
    compiled, _, _ = compile_text(text, PROMPT if files is None else files)
    assert compiled.hash is not None, compiled.diagnostics
    return compiled.hash


def changed(change: Callable[[str], str]) -> bool:
    text = change(BASE)
    assert text != BASE
    return hash_of(text) != hash_of(BASE)


@given(json_values)
def test_the_canonical_form_is_that_of_rfc_8785(data: JsonValue) -> None:
    assert canonical(data) == rfc8785.dumps(data)


def test_comments_and_spaces_do_not_count() -> None:
    assert not changed(
        lambda text: "# hello\n" + text.replace("    when: base == 'main'", "    when:   base  ==  'main'")
    )


def test_the_order_of_keys_does_not_count() -> None:
    assert not changed(
        lambda text: text.replace("name: a\ndescription: first\n", "description: first\nname: a\n").replace(
            "  base: string = main\n  width: int = 3\n", "  width: int = 3\n  base: string = main\n"
        )
    )


def test_older_spellings_of_a_condition_do_not_count() -> None:
    assert not changed(lambda text: text.replace("when: base == 'main'", 'when: ${base} == "main"'))


def test_the_order_of_steps_counts() -> None:
    flat = "name: a\nsteps:\n  - {name: x, command: 'true'}\n  - {name: y, command: 'true'}\n"
    assert hash_of(flat) != hash_of(flat.replace("x", "z").replace("y", "x").replace("z", "y"))


def test_a_changed_step_anywhere_counts() -> None:
    assert changed(lambda text: text.replace('echo "${answer}"', 'echo "${base}"'))


def test_the_text_of_a_prompt_counts_but_not_its_header_or_file_name() -> None:
    base = hash_of(BASE)
    assert hash_of(BASE, {"prompts/10-ask.md": "<!-- Version: v1 -->\nDo {{ base }} now.\n"}) != base
    assert (
        hash_of(BASE, {"prompts/10-ask.md": "<!-- Version: v2 -->\n<!-- Description: x -->\nDo {{ base }}.\n"}) == base
    )
    assert hash_of(BASE, {"prompts/ask.md": "Do {{ base }}.\n"}) == base


def test_a_stamp_does_not_count() -> None:
    assert not changed(
        lambda text: text.replace("description: first\n", "description: first\nvalidated_against_spec: 1\n")
    )


def test_another_process_gives_the_same_hash() -> None:
    program = (
        "import sys, json; sys.path.insert(0, sys.argv[1]); from support.compiler.native_case import compile_text;"
        "text, files = json.load(sys.stdin); print(compile_text(text, files)[0].hash)"
    )
    for seed in ("0", "7"):
        done = subprocess.run(
            [sys.executable, "-c", program, str(TESTS)],
            input=json.dumps([BASE, PROMPT]),
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == hash_of(BASE)
