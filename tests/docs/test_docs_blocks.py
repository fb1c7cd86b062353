"""Every code block of every page is true: compiled, read or run, and its links lead somewhere."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from doc_commands import Shown, commands, fits, make_targets
from doc_examples import is_example, problems
from doc_pages import ROOT, Block, blocks, pages, prose, text_of

from handrail.model.diagnostics import Report
from handrail.sources.config import read_repository_config, read_user_config
from handrail.sources.folders import Folders

OTHER_TESTS = {
    "docs/engine.md": "tests/docs/test_engine_docs.py",
    "docs/language.md": "tests/language/test_language_docs.py",
    "docs/python-workflows.md": "tests/authoring/test_objects_docs.py",
    "docs/runs.md": "tests/docs/test_runs_docs.py",
}
"""Pages whose blocks have tests of their own."""
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
    assert Path(page).name in (ROOT / OTHER_TESTS[page]).read_text(encoding="utf-8")


@pytest.fixture
def shown(tmp_path: Path) -> Shown:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    return Shown(tmp_path / "shop", tmp_path / "home")


def _of_readme(block: Block, shown: Shown) -> None:
    """The README shows its workflow in place, and the same with a slip in a file of its own."""
    slip = replace(block, text=block.text.replace("when: repro.confidence", "when: repro.confidense"))
    shown.write(replace(block, notes={"file": ".handrail/workflows/fix-bug/workflow.yaml"}))
    shown.write(replace(slip, notes={"file": "fix-bug.yaml"}))


@pytest.mark.parametrize("page", [page for page in PAGES if any(each.language == "console" for each in blocks(page))])
def test_every_command_prints_what_the_page_shows(page: str, shown: Shown) -> None:
    if page == "README.md":
        (workflow,) = [block for block in blocks(page) if block.language == "yaml"]
        _of_readme(workflow, shown)
    for block in blocks(page):
        if "file" in block.notes:
            shown.write(block)
        if block.language == "console":
            _try(block, shown)


def _try(block: Block, shown: Shown) -> None:
    for command in commands(block):
        program, _, rest = command.line.partition(" ")
        if program == "make":
            # The tests are what `make test` runs, so only the target's name can be checked here.
            assert rest in make_targets()
            continue
        assert program == "handrail", f"{block}: only handrail and make are run"
        code, printed = shown.run(command.line)
        if command.expected.strip():
            assert fits(command.expected, printed), f"{block}: $ {command.line}\n{printed}"
        else:
            assert code == 0, f"{block}: $ {command.line}\n{printed}"


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.language == "toml"], ids=str)
def test_every_configuration_is_read_without_a_word(block: Block, shown: Shown) -> None:
    shown.write(block)
    report = Report()
    read_repository_config(shown.root, report)
    read_user_config(Folders(shown.home, shown.home), report)
    assert list(report) == []


def _anchors(page: str) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", pages())
def test_every_link_leads_somewhere(page: str) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
        if link.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), f"{page}: {link}"
        if anchor:
            assert anchor in _anchors(target.resolve().relative_to(ROOT).as_posix()), f"{page}: {link}"


def test_three_dots_stand_for_anything_and_everything_else_for_itself() -> None:
    assert fits("a\n...\nd\n", "a\nb\nc\nd\n")
    assert fits("a ... d\n", "a b c d   \n")
    assert not fits("a\n", "a\nb\n")
    assert not fits("a.c\n", "abc\n")
