"""The page docs/runs.md is tried out as it stands, in a real git repository."""

import subprocess
from pathlib import Path

import pytest
from doc_commands import Shown, commands, fits
from doc_examples import problems
from doc_pages import blocks

from handrail.cli.commands import RUNS

PAGE = "docs/runs.md"
IDENTITY = "[user]\n\tname = Ada\n\temail = ada@example.org\n"


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shown:
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    found = Shown(tmp_path / "shop", tmp_path / "home")
    found.root.mkdir()
    found.home.mkdir()
    (found.home / ".gitconfig").write_text(IDENTITY, "utf-8")
    return found


def git(shown: Shown, *words: str) -> None:
    env = {"HOME": str(shown.home), "PATH": "/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *words], cwd=shown.root, env=env, check=True, capture_output=True)


def test_every_command_of_the_page_prints_what_it_shows(shown: Shown) -> None:
    for block in blocks(PAGE):
        if "file" in block.notes:
            shown.write(block)
    git(shown, "init", "-q", "-b", "main")
    git(shown, "add", "-A")
    git(shown, "commit", "-qm", "Start")
    for block in blocks(PAGE):
        for command in commands(block) if block.language == "console" else ():
            _, printed = shown.run(command.line)
            if command.expected.strip():
                assert fits(command.expected, printed), f"{block}: $ {command.line}\n{printed}"


def test_the_workflow_of_the_page_compiles() -> None:
    (workflow,) = [block for block in blocks(PAGE) if block.notes.get("file", "").endswith("workflow.yaml")]
    assert problems(workflow) == ""


@pytest.mark.parametrize("name", ["diff", "cost", "compare", "apply", "merge", "discard", "clean", "answer"])
def test_every_command_about_changes_is_on_the_page(name: str) -> None:
    assert name in RUNS
    text = "".join(block.text for block in blocks(PAGE))
    assert f"$ handrail {name}" in text
