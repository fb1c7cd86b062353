"""The page about workflows in Python is true: its code runs, and its table names every object."""

import asyncio
import inspect
import re
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

import handrail
from handrail import ResolveContext
from handrail.authoring.native.schema import WORKFLOW
from handrail.authoring.python.tree import to_document
from handrail.authoring.shapes.conform import conform
from handrail.model.diagnostics import Report
from handrail.model.source import Bundle, SourceText, plain
from support.places import ROOT

PAGE = (ROOT / "docs" / "python-workflows.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def _resolved(code: str, context: ResolveContext) -> Any:
    names: dict[str, Any] = {"__name__": "handrail_workflow_1"}
    exec(compile(code, "workflow.py", "exec"), names)
    made: Any = names["resolve"](context)
    if inspect.iscoroutine(made):
        made = asyncio.run(made)
    report = Report()
    document = to_document(made, Bundle("workflow.py", {"workflow.py": SourceText("workflow.py", code)}), report)
    assert document is not None
    conform(WORKFLOW, document.root, report)
    assert list(report) == []
    return plain(document.root)


@pytest.mark.parametrize("code", BLOCKS, ids=range(len(BLOCKS)))
@pytest.mark.parametrize("labels", [(), ("needs-review", "try-v2")], ids=["unlabelled", "labelled"])
def test_every_example_gives_a_workflow_of_the_format(code: str, labels: tuple[str, ...]) -> None:
    assert _resolved(code, ResolveContext(labels=labels))["steps"]


def test_a_label_adds_a_step() -> None:
    code = next(code for code in BLOCKS if "needs-review" in code)
    assert [step["name"] for step in _resolved(code, ResolveContext())["steps"]] == ["plan", "build"]
    labelled = _resolved(code, ResolveContext(labels=("needs-review",)))
    assert [step["name"] for step in labelled["steps"]] == ["plan", "agree", "build"]


def test_a_label_chooses_a_version_of_a_prompt() -> None:
    code = next(code for code in BLOCKS if "try-v2" in code)
    assert _resolved(code, ResolveContext())["steps"][0]["prompt"] == "prompts/10-coding.md"
    labelled = _resolved(code, ResolveContext(labels=("try-v2",)))
    assert labelled["steps"][0]["prompt"] == "versions/10-coding.v2.md"


def _table() -> dict[str, str]:
    rows = PAGE.partition("## The objects")[2].partition("A type checker")[0]
    firsts = [row.split("|")[1] for row in rows.splitlines() if row.startswith("| `")]
    return dict(re.findall(r"`(\w+)(?:\(([^)]*)\))?`", "".join(firsts)))


def test_the_table_names_every_exported_object() -> None:
    assert set(_table()) == set(handrail.__all__) - {"__version__"}


def _positional(made: Any) -> list[str]:
    """What may be given by position; a class of data has its signature only when the first of a kind was made."""
    if is_dataclass(made):
        return [each.name for each in fields(made) if each.init and not each.kw_only]
    parameters = inspect.signature(made).parameters.values()
    return [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]


@pytest.mark.parametrize(("name", "shown"), _table().items())
def test_the_table_shows_what_is_given_by_position(name: str, shown: str) -> None:
    positional = _positional(getattr(handrail, name))
    listed = [word for word in shown.split(", ") if word and not word.endswith("=...")]
    if name != "Step":
        assert positional[: len(listed)] == listed
        assert all(getattr(handrail, name).__dataclass_fields__[word] for word in listed)
        assert len(listed) == len(positional) or name == "Subroutine"
