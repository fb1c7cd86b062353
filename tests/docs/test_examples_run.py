"""Every workflow of the pages about authoring is run: agents give the least that is asked for, and commands pass."""

import os
import sys
from pathlib import Path

import pytest

from handrail.model.workflow.plan import Input
from handrail.model.workflow.types import ListType, ScalarType
from support.compiler.native_case import compile_text
from support.differences.proofs import Benches
from support.differences.workbench import Trace
from support.docs.examples import completed, is_example
from support.docs.pages import Block, blocks, group, pages

pytestmark = pytest.mark.system  # takes long: many processes of its own

PLAYED = (
    *("README.md", *group("docs/cookbook.md"), "docs/pull-requests.md", "docs/runs.md"),
    *("docs/testing-workflows.md", "docs/tutorial.md"),
)
"""Pages whose workflows are run by their own tests, with the scripts and the output that they show."""
NO_WORKFLOWS = ("docs/language.md", "docs/mcp.md")
"""Pages whose JSON is data of expressions, or configures clients."""
EXAMPLES = [
    block for page in pages() if page not in (*PLAYED, *NO_WORKFLOWS) for block in blocks(page) if is_example(block)
]
GIVEN = {"int": "2", "number": "2", "bool": "true", "list": '["a"]', "json": "{}", "path": "README.md"}
ISSUE = '{"id": "7", "number": 7, "title": "The fence is dull", "body": "Paint it.", "labels": ["bug"]}'
CONFIG = """
[checks]
test = "make test"
[checks.test_one]
command = "make test-one"
[project]
sources = ["src/**"]
default_branch = "main"
outdated = "make outdated"
update = "make update"
"""
USER_CONFIG = '[notify.channels."#dev"]\ncommand = "true"\n'
MOST_ANSWERS = 10
STANDS: dict[str, str] = {
    "wr.contracts.review_verdict": "an artifact of kind wr.review_verdict is missing",
    '"validationCriteria"': "say what was tested",
    "design-quality": "the assessment 'design-quality' is missing",
    "round-after-round": "the context variable 'files' must be a list",
    "assess:": "the assessment",
    "web_browsing: required": "the workflow requires web_browsing",
    '"parallelDelegations"': "nothing was reported on 1",
    '"delegation"': "the workflow requires delegation",
    "npm install": "a text has no field 'name'",
    "on_conflict": "there is no commit",
    "check: test_one": "not proven: test_one shows a failing test",
    "pytest -q": "not proven",
}
"""What an example asks for that no agent gives here, by a word of it, and how the run says so to a person."""


def given(inputs: tuple[Input, ...]) -> list[str]:
    """Give each required input a value of its type."""
    return [f"{each.name}={value_for(each)}" for each in inputs if each.required]


def value_for(declared: Input) -> str:
    """Make up a value for an input."""
    if isinstance(declared.type, ListType):
        return "a"
    kind = declared.type.kind if isinstance(declared.type, ScalarType) else ""
    return ISSUE if declared.name == "issue" else GIVEN.get(kind, "x")


def finished(trace: Trace) -> Trace:
    """Approve whatever is asked, as often as it takes."""
    for _ in range(MOST_ANSWERS):
        if (trace.state.status, trace.state.reason) != ("waiting", "approval"):
            break
        trace.answer("approve")
    return trace


@pytest.mark.parametrize("block", EXAMPLES, ids=str)
def test_every_example_runs_to_its_end_or_to_what_it_asks_for(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The examples name programs such as `python` and `pytest`, which a machine need not have.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    main, text, files = completed(block)
    compiled, _, _ = compile_text(text, files, main=main)
    assert compiled.plan is not None
    bench = Benches(tmp_path).bench(
        config=CONFIG,
        user_config=USER_CONFIG,
        files={"README.md": "hello\n"},
        beside=files,
        git=True,
        agent="codex",
        willing=True,
    )
    found = finished(bench.run(text, *given(compiled.plan.inputs), name=compiled.plan.name))
    asked = [said for word, said in STANDS.items() if word in block.text]
    if found.status != "succeeded" and any(said in found.state.message for said in asked):
        return
    assert (found.status, found.state.message if found.status != "succeeded" else "") == ("succeeded", "")


@pytest.mark.parametrize("page", PLAYED)
def test_the_other_pages_are_run_by_tests_of_their_own(page: str) -> None:
    tests = (path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py") if path != Path(__file__))
    index = "docs/cookbook.md" if page in group("docs/cookbook.md") else page
    assert any(index in text for text in tests)
