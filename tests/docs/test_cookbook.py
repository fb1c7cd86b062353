"""Every recipe of the cookbook is written into a repository, checked, trusted and run as the page shows."""

import json
import os
from collections.abc import Generator
from pathlib import Path

import pytest

from support.docs.pages import ROOT, blocks, group
from support.docs.recipes import Section, play, sections
from support.docs.shop import FILES, DocShop

pytestmark = pytest.mark.system  # takes long: many processes of its own

PAGES = group("docs/cookbook.md")
SCRIPTS = ROOT / "tests" / "docs" / "cookbook"
RECIPES = [recipe for page in PAGES for recipe in sections(page)]
PLAYED = RECIPES if os.environ.get("HANDRAIL_SOAK") else RECIPES[::3]
"""All are checked in every test run; playing one takes as long as a person would be in a hurry."""
TOOLS = {
    "tools/outdated.py": 'print(\'{"clock": "1.5", "mail": "3.0"}\')\n',
    "tools/bump.py": (
        "import pathlib, re, sys\n\n"
        'deps = pathlib.Path("deps.txt")\n'
        'deps.write_text(re.sub(rf"{sys.argv[1]} .*", f"{sys.argv[1]} {sys.argv[2]}", deps.read_text()))\n'
    ),
    "tests/test_deps.py": (
        "import pathlib, unittest\n\n\n"
        "class DepsTest(unittest.TestCase):\n"
        "    def test_mail_can_still_send_text(self):\n"
        '        self.assertIn("mail 2.", pathlib.Path("deps.txt").read_text())\n'
    ),
}
REVIEW_WITH_AN_ARBITER = (
    "build review review@1/reviewer review@1/arbiter review@1/fixer review@1/checks review@2/reviewer decide"
)
FAN_OUT_AND_MERGE = (
    "split build build[hello]/implement build[bye]/implement build[hello]/test build[bye]/test combine "
    "combine/hello combine/hello/checks combine/bye combine/bye/checks"
)
MIGRATE_FILE_BY_FILE = (
    "find each each[shop/label.py]/rewrite each[shop/label.py]/keep each[shop/mail.py]/rewrite report"
)
UPDATE_DEPENDENCIES = (
    "outdated nothing-to-do bump bump[clock]/install bump[clock]/test bump[clock]/keep bump[mail]/install "
    "bump[mail]/test/fix bump[mail]/test"
)
ENDINGS: dict[str, tuple[str, str, str]] = {
    "fix-with-proof": ("fix-with-proof-1", "succeeded", "reproduce fix"),
    "plan-approve-build": ("plan-first-1", "succeeded", "plan agree build"),
    "checks-with-a-fix": ("checked-1", "succeeded", "build checks/fix checks keep"),
    "review-with-an-arbiter": ("reviewed-1", "succeeded", REVIEW_WITH_AN_ARBITER),
    "fan-out-and-merge": ("in-parallel-1", "succeeded", FAN_OUT_AND_MERGE),
    "migrate-file-by-file": ("migrate-1", "succeeded", MIGRATE_FILE_BY_FILE),
    "update-dependencies": ("update-deps-1", "succeeded", UPDATE_DEPENDENCIES),
    "ask-in-the-middle": ("ask-first-1", "succeeded", "work"),
    "stay-within-a-budget": ("thrifty-1", "succeeded", "explore build polish"),
    "retry-then-fall-back": ("fall-back-1", "succeeded", "quick thorough"),
    "share-a-child-workflow": ("reword-1", "succeeded", "write finish"),
    "release-checklist": ("release-1", "succeeded", "checks news sign-off tag announced"),
    "compare-two-attempts": ("attempt-2", "succeeded", "look build"),
    "find-stale-documentation": ("docs-drift-1", "failed", "compare"),
}
"""For each recipe the run that is looked at, how it ended, and the steps that it took."""


@pytest.fixture
def shop(tmp_path: Path) -> Generator[DocShop]:
    made = DocShop(tmp_path / "shop", tmp_path / "home")
    yield made
    made.end()


def _write(shop: DocShop, recipe: Section) -> None:
    """Commit the recipe's workflows and the script of its agent, and trust what will run."""
    script = SCRIPTS / f"{recipe.name}.yaml"
    play = {"play.yaml": script.read_text("utf-8")} if script.exists() else {}
    shop.begin({**FILES, **TOOLS, **recipe.files, **play})
    for name in [*recipe.workflows, ".handrail/config.toml"]:
        code, said = shop.run(f"handrail trust {name} --yes")
        assert code == 0, said


@pytest.mark.parametrize("recipe", PLAYED, ids=lambda recipe: recipe.name)
def test_a_recipe_does_what_the_page_shows(recipe: Section, shop: DocShop) -> None:
    _write(shop, recipe)
    for name in recipe.workflows:
        assert shop.run(f"handrail lint {name} --strict") == (0, "1 workflow valid\n")
    for block in recipe.blocks:
        if block.language == "console":
            assert play(block, shop) == ""
    run, status, path = ENDINGS[recipe.name]
    _, said = shop.run(f"handrail show {run} --json")
    found = json.loads(said)
    taken = [step["address"] for step in found["steps"]]
    side_by_side = any("order" in block.notes for block in recipe.blocks)
    assert (found["status"], sorted(taken) if side_by_side else taken) == (
        status,
        sorted(path.split()) if side_by_side else path.split(),
    )


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_a_recipe_is_short(recipe: Section) -> None:
    assert all(8 <= len(text.splitlines()) <= 35 for text in recipe.files.values())


def test_there_are_a_dozen_recipes_and_every_script_belongs_to_one() -> None:
    assert 12 <= len(RECIPES) <= 15
    assert {path.stem for path in SCRIPTS.glob("*.yaml")} <= {recipe.name for recipe in RECIPES}


def test_the_checks_are_those_that_the_page_shows() -> None:
    (shown,) = [block for page in PAGES for block in blocks(page) if block.language == "toml"]
    assert shown.text == FILES[".handrail/config.toml"]
