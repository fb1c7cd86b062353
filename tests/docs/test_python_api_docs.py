"""The page docs/python-api.md is true: its programs print what it shows, and its tables name everything there is."""

import contextlib
import io
import shutil
import subprocess
from pathlib import Path

import pytest

import handrail.client
from handrail.client import StartOptions
from handrail.processes.keeper_pool import KEEPER_POOL
from support.docs.commands import commands, fits
from support.docs.pages import CODE, ROOT, Block, blocks, tables
from support.docs.shop import DocShop

PAGE = "docs/python-api.md"
BACKGROUND = "background.py"
"""The program that needs a background driver."""
FILES = {block.notes["file"]: block for block in blocks(PAGE) if "file" in block.notes}
PROGRAMS = [name for name in FILES if name.endswith(".py")]
CONSOLE = [block for block in blocks(PAGE) if block.language == "console"]
SHOWN = {each.line.removeprefix("python "): each for block in CONSOLE for each in commands(block)}


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DocShop:
    made = DocShop(tmp_path / "shop", tmp_path / "home")
    made.begin({path: block.text for path, block in FILES.items()})
    for name, value in made.environ().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(made.root)
    code, printed = made.run("handrail trust notes --yes")
    assert code == 0, printed
    return made


def run_here(program: Block) -> str:
    """Run a program of the page in this process; give what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program.text, str(program), "exec"), {"__name__": "__main__"})
    return printed.getvalue()


def test_every_program_prints_what_the_page_shows(shop: DocShop) -> None:
    for name in PROGRAMS:
        if name != BACKGROUND:
            printed = run_here(FILES[name])
            assert fits(SHOWN[name].expected, printed), f"{name}:\n{printed}"
    KEEPER_POOL.close()
    assert shop.git("log", "--format=%s", "work/notes-2", "-1") == "Add release notes\n"


@pytest.mark.system  # starts the background driver
def test_a_program_leaves_its_run_to_the_background_driver(shop: DocShop) -> None:
    try:
        printed = run_here(FILES[BACKGROUND])
    finally:
        shop.end()
        KEEPER_POOL.close()
    assert fits(SHOWN[BACKGROUND].expected.replace("notes-4", "notes-1"), printed), printed


def test_every_program_is_run() -> None:
    assert list(SHOWN) == PROGRAMS


@pytest.mark.system  # takes long: the type checker reads the whole package
def test_a_strict_type_checker_accepts_every_program(tmp_path: Path) -> None:
    for name in PROGRAMS:
        (tmp_path / name).write_text(FILES[name].text)
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    pyright = shutil.which("pyright", path=str(ROOT / ".venv" / "bin")) or shutil.which("pyright")
    assert pyright is not None
    python = Path(handrail.__file__).parents[2] / ".venv" / "bin" / "python"
    done = subprocess.run(
        [pyright, "--pythonpath", str(python), "-p", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_the_tables_name_every_option_and_every_exported_name() -> None:
    named = {table.notes.get("table"): table.firsts for table in tables(PAGE)}
    assert sorted(named["start"]) == sorted(StartOptions.__annotations__)
    assert sorted(named["names"]) == sorted(handrail.client.__all__)


def test_the_methods_that_the_page_names_exist() -> None:
    rows = {row[0]: row[1] for table in tables(PAGE) if table.notes.get("table") == "names" for row in table.rows}
    for cls in (handrail.client.Client, handrail.client.Run):
        named = set(CODE.findall(rows[f"`{cls.__name__}`"])) - {"handrail.open()"}
        public = {name for name in dir(cls) if not name.startswith("_")} - {"close"}
        assert named - {"notices"} == public
