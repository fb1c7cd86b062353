"""Runs in a repository whose remote is a bare one on this disk, under the address of a repository on GitHub."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from handrail.model.issues import RepositoryRef
from handrail.model.pull_request_facts import PullRequestFact, PullRequestRecord
from handrail.model.pull_requests import STREAM, PullRequest, PullRequestRef
from handrail.operations.runs import lifecycle as runs
from handrail.runtime.pull_request_log import read_facts, read_record
from handrail.trackers.memory.service import MemoryService, StoredPullRequest
from support.runtime.steps_room import StepsRoom, git

REPOSITORY = RepositoryRef("github.com", "acme", "shop")
ADDRESS = "https://github.com/acme/shop.git"


@dataclass
class PullRequestRoom:
    """A room with a remote and a code host."""

    steps: StepsRoom
    remote: Path

    @property
    def service(self) -> MemoryService:
        return self.steps.trackers.service

    @property
    def opened(self) -> list[StoredPullRequest]:
        """All pull requests of the host, in the order in which they were opened."""
        return list(self.service.pull_requests.values())

    @property
    def only(self) -> PullRequest:
        """The only pull request of the host."""
        (found,) = self.opened
        return found.state.pull_request

    def record(self, number: int = 1) -> PullRequestRecord:
        return read_record(self.steps.log, f"{STREAM}{PullRequestRef(REPOSITORY, number)}")

    def facts(self, number: int = 1) -> tuple[PullRequestFact, ...]:
        return read_facts(self.steps.log, f"{STREAM}{PullRequestRef(REPOSITORY, number)}")

    def head(self, branch: str) -> str:
        """The commit of a branch of the remote; empty if there is none."""
        return git(self.remote, "for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}")

    def show(self, branch: str, file: str) -> str:
        return git(self.remote, "show", f"{branch}:{file}")

    def rewind(self, run: str, step: str) -> None:
        """Let a run go back to before a step, and drive on."""
        runs.rewind(self.steps.writer, run, step, "ann")
        self.steps.drive()

    def push_by_hand(self, branch: str, **files: str) -> str:
        """Let a person push a commit to a branch from a clone of theirs."""
        clone = self.steps.folder / "clone"
        if not clone.exists():
            git(self.steps.folder, "clone", "-q", str(self.remote), str(clone))
            for name, value in (("user.name", "Ben"), ("user.email", "ben@example.org")):
                git(clone, "config", name, value)
        git(clone, "fetch", "-q")
        git(clone, "checkout", "-q", "-B", branch, f"origin/{branch}")
        for name, text in files.items():
            (clone / name.replace("_", ".")).write_text(text)
        git(clone, "add", "-A")
        git(clone, "commit", "-qm", "by hand")
        git(clone, "push", "-q", "origin", branch)
        return git(clone, "rev-parse", "HEAD")


def make_remote(folder: Path, repo: Path, home: Path) -> Path:
    """Make a bare repository with the main branch, which the user's git finds under the address on GitHub."""
    remote = folder / "remote.git"
    git(folder, "init", "-q", "--bare", "-b", "main", str(remote))
    with (home / ".gitconfig").open("a") as file:
        file.write(f'[url "{remote.as_uri()}"]\n\tinsteadOf = {ADDRESS}\n')
    git(repo, "remote", "add", "origin", ADDRESS)
    git(repo, "push", "-q", "origin", "main")
    return remote


@pytest.fixture
def pulls(shop: StepsRoom, tmp_path: Path) -> PullRequestRoom:
    remote = make_remote(tmp_path, shop.repo, tmp_path / "home")
    room = PullRequestRoom(shop, remote)
    room.service.head_of = lambda _, branch: room.head(branch)
    return room
