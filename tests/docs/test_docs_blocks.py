"""Every code block of every page is true: compiled, read or run."""

from pathlib import Path

import pytest

from handrail.model.diagnostics import Report
from handrail.sources.config.config import read_repository_config, read_user_config
from handrail.sources.folders import Folders
from support.docs.commands import Command, Shown, commands, fits, make_targets
from support.docs.examples import is_example, problems
from support.docs.pages import ROOT, Block, blocks, group, pages

OTHER_TESTS = {
    "README.md": "tests/docs/test_readme.py",
    **dict.fromkeys(group("docs/cookbook.md"), "tests/docs/test_cookbook.py"),
    "docs/blame.md": "tests/docs/test_blame_docs.py",
    "docs/engine/events.md": "tests/docs/test_engine_docs.py",
    "docs/engine/store.md": "tests/docs/test_engine_docs.py",
    "docs/init.md": "tests/docs/test_init_docs.py",
    "docs/issues.md": "tests/docs/test_issues_docs.py",
    "docs/language.md": "tests/docs/test_language_docs.py",
    "docs/mcp.md": "tests/docs/test_mcp_docs.py",
    "docs/pull-requests.md": "tests/docs/test_pull_requests_docs.py",
    "docs/python-workflows.md": "tests/docs/test_python_workflows_docs.py",
    "docs/runs.md": "tests/docs/test_runs_docs.py",
    "docs/testing-workflows.md": "tests/docs/test_testing_docs.py",
    "docs/tutorial.md": "tests/docs/test_tutorial.py",
}
"""Pages whose blocks have tests of their own."""
INDEXES = [page for page in pages() if len(group(page)) > 1]
PICTURES = ("text", "")
"""Blocks of these languages are only looked at: trees of folders, drawings."""
PAGES = [page for page in pages() if page not in OTHER_TESTS]
BLOCKS = [block for page in PAGES for block in blocks(page)]


@pytest.mark.parametrize("block", [block for block in BLOCKS if is_example(block)], ids=str)
def test_every_workflow_compiles_without_a_warning_and_fits_the_json_schema(block: Block) -> None:
    assert problems(block) == ""


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_every_block_is_one_that_a_test_can_judge(block: Block) -> None:
    judged = is_example(block) or "file" in block.notes or block.language == "console"
    assert judged or block.language in PICTURES


@pytest.mark.parametrize("page", OTHER_TESTS)
def test_the_other_pages_have_tests_of_their_own(page: str) -> None:
    text = (ROOT / OTHER_TESTS[page]).read_text(encoding="utf-8")
    assert Path(page).name in text or any(f'group("{index}")' in text for index in INDEXES if page in group(index))


@pytest.fixture
def shown(tmp_path: Path) -> Shown:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    return Shown(tmp_path / "shop", tmp_path / "home")


@pytest.mark.parametrize("page", [page for page in PAGES if any(each.language == "console" for each in blocks(page))])
def test_every_command_prints_what_the_page_shows(page: str, shown: Shown) -> None:
    untrue: list[str] = []
    for block in blocks(page):
        if "file" in block.notes:
            shown.write(block)
        if block.language == "console":
            untrue += [f"{block}: {said}" for command in commands(block) if (said := _untrue(command, shown))]
    assert untrue == []


def _untrue(command: Command, shown: Shown) -> str:
    """Tell what is not as the page shows it, if anything."""
    program, _, rest = command.line.partition(" ")
    if program == "make":
        # The tests are what `make test` runs, so only the target's name can be checked here.
        return "" if rest in make_targets() else f"there is no target {rest}"
    if program != "handrail":
        return "only handrail and make are run"
    code, printed = shown.run(command.line)
    true = fits(command.expected, printed) if command.expected.strip() else code == 0
    return "" if true else f"$ {command.line}\n{printed}"


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.language == "toml"], ids=str)
def test_every_configuration_is_read_without_a_word(block: Block, shown: Shown) -> None:
    shown.write(block)
    report = Report()
    read_repository_config(shown.root, report)
    read_user_config(Folders(shown.home, shown.home), report)
    assert list(report) == []


def test_three_dots_stand_for_anything_and_everything_else_for_itself() -> None:
    assert fits("a\n...\nd\n", "a\nb\nc\nd\n")
    assert fits("a ... d\n", "a b c d   \n")
    assert not fits("a\n", "a\nb\n")
    assert not fits("a.c\n", "abc\n")
