"""The page docs/tutorial.md is followed from its first line to its last, in a project of its own."""

from collections.abc import Generator
from pathlib import Path

import pytest

from support.docs.pages import Block, blocks
from support.docs.recipes import play
from support.docs.shop import DocShop

PAGE = "docs/tutorial.md"
FIRST = ("shop/cart.py", "tests/test_cart.py", "Makefile")
EMPTY = {"shop/__init__.py": "", "tests/__init__.py": "", ".gitignore": "__pycache__/\n"}


@pytest.fixture
def shop(tmp_path: Path) -> Generator[DocShop]:
    made = DocShop(tmp_path / "shop", tmp_path / "home")
    yield made
    made.end()


def _files() -> dict[str, Block]:
    return {block.notes["file"]: block for block in blocks(PAGE) if "file" in block.notes}


@pytest.mark.timeout(400)
def test_every_command_of_the_tutorial_prints_what_it_shows(shop: DocShop) -> None:
    shop.begin({**EMPTY, **{path: _files()[path].text for path in FIRST}})
    for block in blocks(PAGE):
        if "file" in block.notes and block.notes["file"] not in FIRST:
            shop.write(block.notes["file"], block.text)
        if block.language == "console":
            assert play(block, shop) == ""


def test_every_block_of_the_tutorial_is_a_file_or_commands() -> None:
    assert all("file" in block.notes or block.language == "console" for block in blocks(PAGE))


MOST_MODULES = 330
FENCED = ("importers", "simulation", "scenarios", "init", "demo")
COUNT = """
import atexit, sys
atexit.register(lambda: print("LOADED", *sorted(name for name in sys.modules if name.split(".")[0] == "handrail")))
from handrail.cli.main import main
main()
"""


def test_a_run_up_to_its_approval_loads_only_what_it_needs(shop: DocShop) -> None:
    shop.begin({**EMPTY, **{path: _files()[path].text for path in FIRST}})
    for path in (".handrail/workflows/bugfix/workflow.yaml", "../play.yaml"):
        shop.write(path, _files()[path].text)
    (shop.root.parent / "count.py").write_text(COUNT)
    code, printed = shop.run("handrail init --yes && handrail trust bugfix --yes")
    assert code == 0, printed
    _, printed = shop.run('python ../count.py run bugfix "x" --script ../play.yaml')
    assert "bugfix-1 needs you" in printed, printed
    loaded = printed.partition("LOADED ")[2].split()
    print(f"{len(loaded)} modules of Handrail, at most {MOST_MODULES}")  # noqa: T201
    assert len(loaded) <= MOST_MODULES, "\n".join(loaded)
    assert not [name for name in loaded if set(name.split(".")) & set(FENCED)]
