"""ARCHITECTURE.md and AGENTS.md name only what is there, and only code that something uses."""

import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from support.places import ROOT

SOURCE = ROOT / "src" / "handrail"
PAGES = ("ARCHITECTURE.md", "AGENTS.md")
PATH = re.compile(r"[\w./*-]+/[\w.*-]*|[\w*-]+\.(?:py|md|toml)")
NAME = re.compile(r"[a-z_]+(?:\.\w+)+")
LAYERS = {path.name for path in SOURCE.iterdir() if path.is_dir()}


@cache
def sources() -> dict[Path, str]:
    return {path: path.read_text("utf-8") for path in SOURCE.rglob("*.py")}


def code_in(page: str) -> list[str]:
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text("utf-8"), flags=re.S)
    return sorted(set(re.findall(r"`([^`\n]+)`", text)))


def paths(page: str) -> list[str]:
    return [code for code in code_in(page) if PATH.fullmatch(code) and not code.startswith("--")]


def names(page: str) -> list[str]:
    return [code for code in code_in(page) if NAME.fullmatch(code) and code.split(".")[0] in LAYERS]


def is_there(path: str) -> bool:
    plain = path.strip("/")
    found = [*ROOT.glob(plain), *SOURCE.glob(plain)]
    # A bare file name stands beside the path that is named before it.
    return bool(found) or ("/" not in path and bool(list(SOURCE.rglob(plain))))


@pytest.mark.parametrize(("page", "path"), [(page, path) for page in PAGES for path in paths(page)])
def test_every_path_is_there(page: str, path: str) -> None:
    assert is_there(path), f"{page} names {path}"


@pytest.mark.parametrize(("page", "name"), [(page, name) for page in PAGES for name in names(page)])
def test_every_dotted_name_is_there_and_used(page: str, name: str) -> None:
    parts = name.split(".")
    module, rest = _module(parts)
    for each in rest:
        module = getattr(module, each)
    last = rest[-1] if rest else parts[-1]
    used = [path for path, text in sources().items() if re.search(rf"\b{last}\b", text)]
    own = SOURCE.joinpath(*parts[: len(parts) - len(rest)])
    assert [path for path in used if own not in (path.with_suffix(""), path.parent)], f"nothing uses {name}"


def _module(parts: list[str]) -> tuple[object, list[str]]:
    for end in range(len(parts), 0, -1):
        place = SOURCE.joinpath(*parts[:end])
        if place.is_dir() or place.with_suffix(".py").is_file():
            return import_module(".".join(["handrail", *parts[:end]])), parts[end:]
    raise AssertionError(f"there is no module {'.'.join(parts)}")


def test_no_folder_has_more_than_23_modules() -> None:
    folders = {path.parent for path in SOURCE.rglob("*.py")}
    counts = {str(folder.relative_to(ROOT)): _modules(folder) for folder in folders}
    assert {folder: count for folder, count in counts.items() if count > 23} == {}


def _modules(folder: Path) -> int:
    return len([path for path in folder.glob("*.py") if path.name != "__init__.py"])


def test_modules_are_not_named_by_a_gerund() -> None:
    stems = [path.stem for path in SOURCE.rglob("*.py") if path.name != "__init__.py"]
    gerunds = [stem for stem in stems if stem.endswith("ing")]
    assert len(gerunds) <= len(stems) / 100, gerunds
