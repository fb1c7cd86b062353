"""What a repository tells every agent in words, read for agents that are started without its files."""

from pathlib import Path

import pytest

from handrail.agents import instructions
from handrail.agents.claude.adapter import MEMORY
from handrail.agents.instructions import read_instructions
from handrail.ports.agents import AgentCall, Project

CODEX = (("AGENTS.override.md",), ("AGENTS.md",))


def put(root: Path, **texts: str) -> None:
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def told(root: Path, names: tuple[tuple[str, ...], ...] = MEMORY, *folders: str) -> str:
    project = Project((*(str(root / each) for each in folders), str(root)))
    call = AgentCall(run="r", address="a", turn=1, prompt="", workspace=project.folders[0], project=project)
    return read_instructions(call, names)


def test_without_instructions_nothing_is_told(tmp_path: Path) -> None:
    assert told(tmp_path) == ""


def test_all_places_of_claude_count_and_agents_md_where_there_is_none(tmp_path: Path) -> None:
    put(tmp_path, **{"AGENTS.md": "agents"})
    assert told(tmp_path) == "The repository's AGENTS.md says:\n\nagents"
    put(tmp_path, **{"CLAUDE.md": "one", ".claude/CLAUDE.md": "two", ".claude/rules/a/b.md": "three"})
    assert told(tmp_path) == (
        "The repository's CLAUDE.md says:\n\none\n\nThe repository's .claude/CLAUDE.md says:\n\ntwo\n\n"
        "The repository's .claude/rules/a/b.md says:\n\nthree"
    )


def test_folders_are_told_from_the_root_on_and_the_first_name_counts_in_each(tmp_path: Path) -> None:
    put(tmp_path, **{"AGENTS.md": "root", "a/AGENTS.override.md": "better", "a/AGENTS.md": "passed over"})
    assert told(tmp_path, CODEX, "a") == (
        "The repository's AGENTS.md says:\n\nroot\n\nThe repository's a/AGENTS.override.md says:\n\nbetter"
    )


def test_imports_inside_of_the_repository_are_told_once(tmp_path: Path) -> None:
    put(tmp_path, **{"CLAUDE.md": "see @docs/style.md and a@b.c\n@./docs/style.md @missing.md `x`"})
    put(tmp_path, **{"docs/style.md": "short lines, see @../CLAUDE.md"})
    text = told(tmp_path)
    assert text.count("short lines") == 1
    assert text.count("The repository's") == 2


@pytest.mark.parametrize("named", ["@../secret.md", "@/etc/passwd", "@link.md", "@~/secret.md"])
def test_nothing_outside_of_the_repository_is_told(tmp_path: Path, named: str) -> None:
    root = tmp_path / "repo"
    put(root, **{"CLAUDE.md": f"see {named}"})
    put(tmp_path, **{"secret.md": "SECRET"})
    (root / "link.md").symlink_to(tmp_path / "secret.md")
    assert "SECRET" not in told(root)
    assert "root:" not in told(root)


def test_instructions_that_lead_out_of_the_repository_are_not_told(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    put(tmp_path, **{"secret.md": "SECRET"})
    (root / "CLAUDE.md").symlink_to(tmp_path / "secret.md")
    (root / "AGENTS.md").symlink_to("CLAUDE.md")
    assert told(root) == ""


def test_the_length_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instructions, "MAX_LENGTH", 100)
    put(tmp_path, **{"CLAUDE.md": "x" * 1000 + "@a.md", "a.md": "y" * 1000})
    assert len(told(tmp_path)) == 100
