"""git over HTTP on the double of GitHub, with the real git."""

import os
import subprocess
from pathlib import Path

import pytest

from support.github.double import GitHubDouble
from support.github.state import Token

WORKFLOW = ".github/workflows/ci.yml"


class Clone:
    """A clone, and git in it with the credentials of a token."""

    def __init__(self, github: GitHubDouble, folder: Path) -> None:
        self.github, self.folder = github, folder
        self.git("clone", "-q", github.clone_url(), str(folder), at=folder.parent)

    def git(self, *arguments: str, token: Token | None = None, at: Path | None = None, anonymous: bool = False) -> str:
        """Run git and return what it says, or how it fails."""
        settings = {"GIT_TERMINAL_PROMPT": "0"} if anonymous else self.github.environment(token)
        who = {
            f"GIT_{role}_{what}": "ann@example.com" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, **settings, **who}
        done = subprocess.run(
            ["git", *arguments], cwd=at or self.folder, env=environment, capture_output=True, text=True, check=False
        )
        return f"exit {done.returncode}: {done.stderr}"

    def commit(self, branch: str, name: str, content: bytes) -> str:
        """Commit a file onto a branch and return the commit."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        self.git("checkout", "-qB", branch)
        self.git("add", ".")
        self.git("commit", "-qm", "Change")
        head = self.folder / ".git/refs/heads" / branch
        return head.read_text().strip()


@pytest.fixture
def clone(github: GitHubDouble, tmp_path: Path) -> Clone:
    """Clone a fresh repository."""
    return Clone(github, tmp_path / "clone")


def test_a_push_arrives_and_is_in_the_journal(github: GitHubDouble, clone: Clone) -> None:
    commit = clone.commit("work", "a.txt", b"a\n")
    assert clone.git("push", "-q", "origin", "work") == "exit 0: "
    assert github.repository.git.branches["work"] == commit
    [push] = github.journal.writes("GIT push *")
    assert (push.author, push.body) == ("handrail-user", [{"old": "0" * 40, "new": commit, "ref": "refs/heads/work"}])


def test_a_push_above_one_megabyte_arrives_in_chunks(github: GitHubDouble, clone: Clone) -> None:
    commit = clone.commit("big", "big.bin", os.urandom(1_500_000))
    assert clone.git("push", "-q", "origin", "big") == "exit 0: "
    assert github.repository.git.branches["big"] == commit
    assert github.journal.calls("GIT push *")[0].headers["transfer-encoding"] == "chunked"


def test_a_push_without_credentials_fails_without_a_prompt(github: GitHubDouble, clone: Clone) -> None:
    clone.commit("work", "a.txt", b"a\n")
    assert "could not read Username" in clone.git("push", "-q", "origin", "work", anonymous=True)
    assert "work" not in github.repository.git.branches


def test_a_private_repository_is_not_found_by_strangers(github: GitHubDouble, clone: Clone) -> None:
    github.repository.private = True
    assert "could not read Username" in clone.git("fetch", anonymous=True)
    assert "not found" in clone.git("fetch", token=github.new_token("stranger"))


def test_a_reader_may_not_push(github: GitHubDouble, clone: Clone) -> None:
    clone.commit("work", "a.txt", b"a\n")
    answer = clone.git("push", "origin", "work", token=github.new_token("reader"))
    assert "The requested URL returned error: 403" in answer


def test_a_token_without_the_permission_may_not_push_workflows(github: GitHubDouble, clone: Clone) -> None:
    commit = clone.commit("work", WORKFLOW, b"on: push\n")
    refused = clone.git("push", "origin", "work", token=github.new_token(scopes=("repo",)))
    words = (
        f"refusing to allow a Personal Access Token to create or update workflow `{WORKFLOW}` without `workflow` scope"
    )
    assert words in " ".join(refused.split())
    app = clone.git("push", "origin", "work", token=github.new_token(prefix="ghs_"))
    assert "refusing to allow a GitHub App to create or update workflow" in " ".join(app.split())
    assert clone.git("push", "-q", "origin", "work") == "exit 0: "
    assert github.repository.git.branches["work"] == commit


def test_a_protected_branch_is_not_pushed_to(github: GitHubDouble, clone: Clone) -> None:
    github.repository.protected = ["main"]
    clone.commit("main", "a.txt", b"a\n")
    assert "GH006: Protected branch update failed for refs/heads/main." in clone.git("push", "origin", "main")


def test_a_push_that_lost_its_answer_arrived(github: GitHubDouble, clone: Clone) -> None:
    commit = clone.commit("work", "a.txt", b"a\n")
    github.fail("GIT push *", "cut after effect")
    assert not clone.git("push", "-q", "origin", "work").startswith("exit 0")
    assert github.journal.count("GIT push *") == 1
    assert github.repository.git.branches["work"] == commit


def test_a_push_that_was_cut_off_did_not_arrive(github: GitHubDouble, clone: Clone) -> None:
    clone.commit("work", "a.txt", b"a\n")
    github.fail("GIT push *", "cut before")
    assert not clone.git("push", "-q", "origin", "work").startswith("exit 0")
    assert "work" not in github.repository.git.branches
    assert clone.git("push", "-q", "origin", "work") == "exit 0: "


def test_a_stale_lease_is_refused(github: GitHubDouble, clone: Clone) -> None:
    old = clone.commit("work", "a.txt", b"a\n")
    clone.git("push", "-q", "origin", "work")
    theirs = github.person("ann", "write").push("work", {"b.txt": "b\n"})
    clone.commit("work", "a.txt", b"c\n")
    assert "stale info" in clone.git("push", "origin", f"--force-with-lease=work:{old}", "work")
    assert github.repository.git.branches["work"] == theirs
