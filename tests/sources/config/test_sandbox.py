"""`sandbox` in the table [agent] of a repository's configuration."""

from pathlib import Path

import pytest

from handrail.model.diagnostics import Report
from handrail.sources.config.config import read_repository_config


def read(root: Path, text: str) -> tuple[tuple[str, bool], list[tuple[int, str]]]:
    """Give the sandbox that a configuration asks for, and what is wrong with it."""
    (root / ".handrail").mkdir()
    (root / ".handrail" / "config.toml").write_text(f"[agent]\nsandbox = {text}\n")
    report = Report()
    config = read_repository_config(root, report)
    return config.sandbox, [(each.line, each.message) for each in report]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ('"bwrap"', ("bwrap", True)),
        ('"none"', ("none", True)),
        ('{kind = "bwrap"}', ("bwrap", True)),
        ('{kind = "bwrap", network = false}', ("bwrap", False)),
    ],
)
def test_it_is_a_word_or_a_table(tmp_path: Path, text: str, meant: tuple[str, bool]) -> None:
    assert read(tmp_path, text) == (meant, [])


@pytest.mark.parametrize("text", ['"docker"', "true", "{network = false}", '{kind = "bwrap", net = false}'])
def test_what_cannot_be_read_is_told_at_its_line_and_never_opens_anything(tmp_path: Path, text: str) -> None:
    wrong = "'sandbox' must be none, bwrap, or a table of kind and network"
    assert read(tmp_path, text) == (("bwrap", False), [(2, wrong)])
