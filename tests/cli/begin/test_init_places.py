"""`handrail init` in repositories of all kinds, and where there is none."""

import subprocess
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from support.cli.fresh import GREEN, Fresh, said


def test_an_empty_repository_with_a_commit_says_that_it_found_no_checks(fresh: Fresh) -> None:
    fresh.commit()
    result = fresh.init()
    assert result.exit_code == 0, result.output
    assert said(result.output) == snapshot("""\
Repository  shop, default branch main
Agent       none found: install claude, codex, gemini or opencode, then run
            handrail init again
Checks      none found. Name yours under [checks] in .handrail/config.toml, such
            as test = "./run-tests"
One test    unknown
Sources     unknown
Worktrees   nothing to set up, nothing to copy
Note        fix-bug needs to know how to run a single test file: add
            [checks.test_one] to .handrail/config.toml
Note        fix-bug needs to know where the product's code is: add [project]
            sources to .handrail/config.toml
Trying it   worktree 0 s (there is no check to try)
Wrote       .handrail/config.toml, .handrail/workflows/fix-bug/
            (trusted: you wrote them)
Next        install an agent and log in, name your checks in
            .handrail/config.toml, then: handrail run fix-bug "what is broken"
""")


def test_a_repository_without_a_commit_is_told_to_make_one(fresh: Fresh) -> None:
    result = fresh.init()
    assert result.exit_code == 1
    assert 'git add -A && git commit --allow-empty -m "Start", then: handrail init' in result.output


def test_a_folder_that_is_no_repository_and_a_bare_one_say_what_to_do(
    fresh: Fresh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain").mkdir()
    monkeypatch.chdir(tmp_path / "plain")
    assert "is not inside a git repository" in fresh.init().output
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "bare")], check=True)
    monkeypatch.chdir(tmp_path / "bare")
    assert "is a bare repository" in fresh.init().output


def test_a_linked_worktree_is_a_repository_like_any_other(
    fresh: Fresh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh.commit(Makefile=GREEN)
    fresh.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    monkeypatch.chdir(tmp_path / "side")
    result = fresh.init()
    assert result.exit_code == 0, result.output
    assert "runs start from side, which is checked out" in result.output
    assert (tmp_path / "side" / ".handrail" / "config.toml").is_file()
    assert not (fresh.root / ".handrail").exists()


def test_a_folder_inside_the_repository_means_the_repository(fresh: Fresh, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh.commit(**{"Makefile": GREEN, "src/a.txt": ""})
    monkeypatch.chdir(fresh.root / "src")
    assert fresh.init().exit_code == 0
    assert fresh.config()


def test_the_work_tree_of_a_run_is_refused(fresh: Fresh, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh.commit(Makefile=GREEN)
    inside = fresh.shop.home / "data" / "worktrees" / "x"
    inside.parent.mkdir(parents=True)
    fresh.git("worktree", "add", "-q", "--detach", str(inside))
    monkeypatch.chdir(inside)
    result = fresh.init()
    assert result.exit_code == 2
    assert "is the worktree of a run" in result.output


def test_a_detached_head_is_named_by_its_commit(fresh: Fresh) -> None:
    fresh.commit(Makefile=GREEN)
    fresh.git("checkout", "-q", "--detach")
    found = fresh.shop.json("init", "--yes")
    assert found["branch"] == "main"
    assert [each["outcome"] for each in found["tried"]] == ["green"] * 3
