import subprocess
from pathlib import Path

import pytest

from handrail.workspace.git.checkout_state import observe_checkout


def git(folder: Path, *words: str) -> str:
    name = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    done = subprocess.run(["git", *name, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_what_is_observed_needs_no_git_and_knows_worktrees_packed_and_detached_heads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main, side = tmp_path / "main", tmp_path / "side"
    main.mkdir()
    git(main, "init", "-q", "-b", "work/login")
    git(main, "commit", "-q", "--allow-empty", "-m", "Begin")
    commit = git(main, "rev-parse", "HEAD")
    git(main, "worktree", "add", "-q", "-b", "side", str(side))
    git(main, "pack-refs", "--all")
    inner = main / "src"
    inner.mkdir()
    detached = tmp_path / "detached"
    git(main, "worktree", "add", "-q", "--detach", str(detached))
    monkeypatch.setenv("PATH", "")
    repository = str(main / ".git")
    seen = {"root": str(main), "repository": repository, "branch": "work/login", "head": commit}
    assert observe_checkout(inner) == seen
    assert observe_checkout(side) == {"root": str(side), "repository": repository, "branch": "side", "head": commit}
    assert observe_checkout(detached) == {"root": str(detached), "repository": repository, "head": commit}


@pytest.mark.parametrize(
    "head", [b"", b"\xff\xfe", b"ref: ../../../etc/passwd\n", b"ref: \n", b"ref: refs/heads/a\x07"]
)
def test_a_strange_head_is_observed_as_nothing(head: bytes, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_bytes(head)
    assert set(observe_checkout(tmp_path)) <= {"root", "repository"}


def test_no_repository_is_observed_as_nothing(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: nowhere\n", "utf-8")
    assert observe_checkout(tmp_path) == {}
