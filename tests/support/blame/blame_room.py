"""A real repository in which runs work step by step: their files and commits are real, their agents are not needed."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from handrail.engine.fold.apply import apply
from handrail.model.history.events import Event, RunStarted, StepBegan, StepEnded, WorkspaceReady
from handrail.model.history.run_state import RunState
from handrail.model.history.trees import Tree, TreeSource
from handrail.model.secrets.redaction import Redactor
from handrail.model.workflow.plan import Plan
from handrail.operations.blame.owners import BlameRequest, Owner, PersonOwner, RunOwner, StepOwner, find_owners
from handrail.ports.log import Append, Lease, Log
from handrail.processes.secret_forms import FORMS
from handrail.runtime.event_records import encode_event
from handrail.runtime.handlers.trees import add_run_trailer
from handrail.runtime.history import encode_plan
from handrail.runtime.run_summary import summary_of
from handrail.store.memory.log import MemoryWorld
from handrail.workspace.git_line_history import GitLineHistory
from handrail.workspace.git_repositories import GitRepositories
from support.workspace.git_room import GitRoom, git

NOBODY = Redactor({}, FORMS)


@contextmanager
def git_user(folder: Path) -> Generator[None]:
    """Give git a user of its own, and no configuration of the machine."""
    (folder / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n", "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        patch.delenv("XDG_CONFIG_HOME", raising=False)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        yield


@dataclass
class BlamedRun:
    """A run that does what a test says."""

    room: "BlameRoom"
    name: str
    tree: Tree
    state: RunState | None = None

    @property
    def path(self) -> Path:
        return Path(self.tree.path)

    def record(self, *events: Event) -> None:
        """Append facts, as the driver would."""
        log, before = self.room.log, 0 if self.state is None else self.state.seq
        for number, event in enumerate(events, before + 1):
            self.state = apply(self.state, event, number, log.get_blob)
        assert self.state is not None
        lease = log.acquire(self.name, "test") if before else None
        held = [lease] if isinstance(lease, Lease) else []
        encoded = tuple(map(encode_event, events))
        log.append([Append(self.name, before, encoded, summary=summary_of(self.state))], held)
        for each in held:
            log.release(each)

    def step(self, step: str, *commits: str, **files: str) -> None:
        """Perform a step that writes files, and commits them if there is a message for it."""
        self.begin(step)
        for name, text in files.items():
            (self.path / name.replace("_", ".")).write_text(text, "utf-8")
        for message in commits:
            git(self.path, "add", "-A")
            git(self.path, "commit", "-qm", message)
        self.end(step)

    def save(self, step: str = "save") -> str:
        """Perform a step that commits what is there."""
        self.begin(step, "commit")
        commit = self.room.git_room.spaces.commit(self.tree, add_run_trailer("Save the work", self.name, step))
        self.end(step)
        return commit

    def begin(self, step: str, action: str = "agent") -> None:
        """Begin a step."""
        call: dict[str, Any] = {"agent": "claude", "model": "opus", "prompt": "Do it.", "prompt_file": f"{step}.md"}
        spec = {**call, "prompt_version": "3"} if action == "agent" else {"message": "Save"}
        self.record(StepBegan(address=step, action=action, attempt=1, spec=spec, at=time.time()))

    def end(self, step: str) -> None:
        """End the step that was begun, with a snapshot."""
        assert self.state is not None
        taken = self.room.git_room.spaces.snapshot(self.tree, self.name, self.state.snapshot)
        details: dict[str, Any] = {
            "snapshot": taken.id,
            "files": taken.tree,
            "head": taken.head,
            "spent": {"usd": 0.25},
        }
        ended = StepEnded(address=step, began=self.state.seq, status="succeeded", details=details, at=time.time())
        self.record(ended)


@dataclass
class BlameRoom:
    """One user, one repository, and a log in memory."""

    git_room: GitRoom
    log: Log = field(default_factory=lambda: MemoryWorld().open())

    @property
    def repo(self) -> Path:
        return self.git_room.repo

    def start(self, name: str) -> BlamedRun:
        """Start a run on the current commit of main."""
        tree = self.git_room.spaces.prepare(self.git_room.source(name))
        plan = self.log.put_blob(encode_plan(Plan(name="fix", steps=())))
        source = TreeSource(repository=str(self.repo), base="main", commit=tree.commit, branch=tree.branch)
        found = BlamedRun(self, name, tree)
        found.record(
            RunStarted(
                run=name,
                workflow="fix",
                definition="sha256:1234",
                plan=plan,
                inputs={},
                workspace=tree.path,
                source=source,
                at=time.time(),
            )
        )
        taken = self.git_room.spaces.snapshot(tree, name)
        found.record(WorkspaceReady(tree=tree, snapshot=taken.id, files=taken.tree, at=time.time()))
        return found

    def git(self, *words: str) -> str:
        """Call git in the checkout."""
        return git(self.repo, *words)

    def write(self, name: str, text: str) -> None:
        """Write a file of the checkout."""
        (self.repo / name).write_text(text, "utf-8")

    def commit(self, name: str, text: str, message: str) -> str:
        """Commit a file as a person."""
        self.write(name, text)
        self.git("add", "-A")
        self.git("commit", "-qm", message)
        return self.git("rev-parse", "HEAD")

    def owners(self, file: str, *, log: Log | None = None, revision: str = "", **lines: int) -> list[str]:
        """Name the owner of each line: `RUN STEP`, `RUN ?`, `person SUBJECT`, or why it is unknown."""
        return [describe(each) for each in self.ask(file, log=log or self.log, revision=revision, **lines)]

    def ask(self, file: str, *, log: Log | None, revision: str = "", **lines: int) -> list[Owner]:
        """Ask for the owner of each line."""
        history = GitLineHistory(GitRepositories(self.git_room.data).open_git)
        request = BlameRequest(file=self.repo / file, revision=revision, **lines)
        return [line.owner for line in find_owners(history, log, NOBODY, request).lines]


def describe(owner: Owner) -> str:
    """Name an owner in a few words."""
    match owner:
        case StepOwner():
            return f"{owner.run} {owner.step}"
        case RunOwner():
            return f"{owner.run} ?"
        case PersonOwner():
            return f"person {owner.subject}"
        case _:
            return owner.why
