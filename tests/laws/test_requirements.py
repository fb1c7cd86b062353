"""What is required of Handrail is held by tests: `requirements.toml` and the tests that it names, both ways."""

import ast
import tomllib
from collections import Counter
from functools import cache
from typing import Any

import pytest

from support.places import ROOT, TESTS

DOCUMENTS = {"000": 28, "001": 44, "002": 37, "003": 54, "004": 74}
ROWS: list[dict[str, Any]] = tomllib.loads((TESTS / "requirements.toml").read_text("utf-8"))["requirement"]
KEYS = {"id", "document", "requirement", "status", "tests"}


@cache
def functions_of(path: str) -> frozenset[str]:
    """Name the test functions of a file, without importing it."""
    file = ROOT / path
    if not file.is_file():
        return frozenset()
    tree = ast.parse(file.read_text("utf-8"))
    found = (node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(node.name for node in found if node.name.startswith("test_"))


def test_every_requirement_of_the_documents_is_a_row() -> None:
    assert Counter(row["document"] for row in ROWS) == DOCUMENTS
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    assert all(set(row) == KEYS and row["id"].startswith(row["document"]) for row in ROWS)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_requirement_that_is_met_names_its_tests_and_a_planned_one_none(document: str) -> None:
    rows = [row for row in ROWS if row["document"] == document]
    assert {row["status"] for row in rows} <= {"yes", "planned"}
    wrong = [row["id"] for row in rows if (row["status"] == "yes") != bool(row["tests"])]
    assert wrong == []


def test_every_test_that_is_named_is_there() -> None:
    named = {test for row in ROWS for test in row["tests"]}
    gone = [test for test in sorted(named) if test.partition("::")[2] not in functions_of(test.partition("::")[0])]
    assert gone == []


def test_how_many_requirements_are_met_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    met = Counter(row["document"] for row in ROWS if row["status"] == "yes")
    with capsys.disabled():
        counts = ", ".join(f"{name} {met[name]} of {count}" for name, count in DOCUMENTS.items())
        print(  # noqa: T201 (whoever runs the tests sees how far it is)
            f"\nrequirements with a test: {counts}; in total {met.total()} of {len(ROWS)}"
        )
    assert met.total() <= len(ROWS)
