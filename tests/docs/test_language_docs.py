"""The user's reference is true: every example in it is evaluated, every filter and test is listed."""

import json
import re

import pytest

from handrail.language.expressions.evaluate import evaluate
from handrail.language.expressions.filters import FILTERS, signature
from handrail.language.expressions.parser import parse
from handrail.language.expressions.syntax import TESTS
from handrail.language.shell.scan import compile_command
from support.places import ROOT

PAGE = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")


def rows(header: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for table in PAGE.split(f"| {header} |\n")[1:]:
        for line in table.splitlines()[1:]:
            cells = re.fullmatch(r"\| `(.*)` \| `(.*)` \|", line)
            if cells is None:
                break
            found.append((cells[1].replace("\\|", "|"), cells[2].replace("\\|", "|")))
    return found


def data() -> dict[str, object]:
    block = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert block is not None
    return json.loads(block[1])


@pytest.mark.parametrize(("text", "expected"), rows("you write | you get"))
def test_every_example_gives_what_the_page_says(text: str, expected: str) -> None:
    assert evaluate(parse(text), data()) == json.loads(expected)


@pytest.mark.parametrize(("text", "expected"), rows("you write | what runs"))
def test_every_command_runs_as_the_page_says(text: str, expected: str) -> None:
    compiled = compile_command(text, data().__contains__)
    assert (compiled.script, compiled.problems) == (expected, ())


@pytest.mark.parametrize(("refused", "allowed"), rows("refused | write"))
def test_what_is_refused_and_what_is_not(refused: str, allowed: str) -> None:
    assert {one.code for one in compile_command(refused, data().__contains__).problems} == {"shell-unsafe"}
    assert compile_command(allowed, data().__contains__).problems == ()


def test_every_filter_and_test_is_listed() -> None:
    for name, spec in FILTERS.items():
        assert f"| `{signature(name)}` |" in PAGE
        assert spec.summary in PAGE
    for name in TESTS:
        assert f"`{name}`" in PAGE
    assert len(rows("you write | you get")) > 25
