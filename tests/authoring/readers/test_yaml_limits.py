"""The YAML reader's limits: size, depth, values, aliases."""

import subprocess
import sys

import pytest
from inline_snapshot import snapshot

from handrail.authoring.readers.yaml_reader import read_yaml
from handrail.model.diagnostics import MAX_DIAGNOSTICS, Report
from handrail.model.source import Node, Sequence, SourceText


def read(text: str) -> Node:
    report = Report()
    node = read_yaml(SourceText("workflow.yaml", text), report)
    assert node is not None
    assert list(report) == []
    return node


def complaints(text: str) -> list[str | None]:
    report = Report()
    read_yaml(SourceText("workflow.yaml", text), report)
    return told(report)


def told(report: Report) -> list[str | None]:
    lines: list[str | None] = []
    for found in report:
        lines += [f"{found.line}:{found.column}-{found.end_column} {found.code}", found.message, found.hint]
    return lines


def codes(text: str) -> list[str]:
    report = Report()
    read_yaml(SourceText("workflow.yaml", text), report)
    return [found.code for found in report]


def test_a_recursive_alias_is_refused() -> None:
    assert complaints("a: &x\n  b: *x\n") == snapshot(
        ["2:6-8 alias-refused", "the alias `*x` refers to a value that contains it", "write the value out"]
    )


def test_aliases_cannot_blow_up_the_tree() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    assert complaints("\n".join(lines)) == snapshot(
        ["6:10-13 alias-refused", "aliases expand the file to more than 200,000 values", "write the values out"]
    )


def test_aliases_cannot_nest_deeper_than_the_limit() -> None:
    lines = ["a0: &a0 " + "[" * 40 + "]" * 40, "a1: " + "[" * 40 + "*a0" + "]" * 40]
    assert codes("\n".join(lines)) == ["too-deep"]


def test_depth_64_is_read_and_65_is_not() -> None:
    assert isinstance(read("[" * 64 + "]" * 64), Sequence)
    assert complaints("[" * 65 + "]" * 65) == snapshot(
        [
            "1:65-66 too-deep",
            "the file is nested deeper than 64 levels",
            "flatten the file; no part of the format is nested that deeply",
        ]
    )
    assert codes("- " * 65 + "x") == ["too-deep"]


@pytest.mark.parametrize("opening", ["[", "{", "- ", "? ", "{a: ", "[{", "a:\\n "])
def test_hostile_nesting_does_not_crash_the_process(opening: str) -> None:
    program = f"""
from handrail.authoring.readers.yaml_events import events
from handrail.authoring.readers.yaml_reader import build_tree, read_yaml
from handrail.model.diagnostics import Report
from handrail.model.source import SourceText
for count in (100_000, 1_000_000):
    text = "{opening}" * count
    report = Report()
    assert read_yaml(SourceText("f", text), report) is None and report.failed
    report = Report()
    assert build_tree(SourceText("f", text), report, events(text)) is None and report.failed
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stderr


def test_a_file_over_the_size_limit_is_refused() -> None:
    assert codes("a: " + "x" * (1024 * 1024)) == ["file-too-large"]
    assert codes("a: " + "😀" * (256 * 1024)) == ["file-too-large"]
    assert codes("a: " + "é" * (512 * 1024 - 2)) == []


def test_too_many_values_are_refused() -> None:
    assert codes("[" + "1," * 200_001 + "]") == ["too-many-nodes"]
    assert codes("[" + "1," * 199_998 + "]") == []


def test_reading_ends_when_nothing_more_would_be_kept() -> None:
    report = Report()
    assert read_yaml(SourceText("f", "{" + "a: !x 1, " * 20_000 + "}"), report) is None
    assert (len(report.diagnostics), report.dropped) == (MAX_DIAGNOSTICS, 1)
