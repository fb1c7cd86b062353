"""A step creates issues, each once, whatever happens."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from handrail.errors import NoToken, TrackerBusy, TrackerFault
from handrail.model.history.events import ToolCalled
from handrail.model.history.run_state import RunState
from handrail.model.issues import Dependency
from handrail.model.secrets.redaction import Redactor
from handrail.model.workflow.values import JsonValue
from handrail.operations.runs import lifecycle as runs
from handrail.ports.programs import ProgramAnswer, ProgramCall
from handrail.processes.secret_forms import FORMS
from handrail.runtime.history import events_of, state_of
from handrail.runtime.ports import PinnedWorkflow
from handrail.store.memory.log import MemoryLog, MemoryWorld
from handrail.trackers.beads.book import BeadsIssues
from handrail.trackers.beads.program import Bd, find_bd
from handrail.trackers.local.tracker import LocalTracker
from handrail.trackers.memory.catalog import MemoryTrackers
from handrail.trackers.memory.service import MemoryService
from handrail.wiring.system import System, make_writer
from support.beads.install import add_beads, ask_double
from support.compiler.native_case import compile_text, shown
from support.runtime.pull_request_room import PullRequestRoom

WORKFLOW = """\
name: plan
description: Turn a plan into issues.
input:
  tasks: json
steps:
  - name: file
    type: create-issues
    from: "${tasks}"
    labels: [planned]
    output: issues
  - name: after
    command: echo done
"""
TASKS: JsonValue = [
    {"id": "ui", "title": "Show the total", "after": ["api"], "parent": "epic", "labels": ["web"]},
    {"id": "api", "title": "Compute the total", "description": "With taxes.", "depends_on": "epic", "priority": 0},
    {"id": "epic", "title": "Totals", "type": "epic"},
]


class Killed(KeyboardInterrupt):
    """The process ended here."""


@dataclass
class IssueRoom:
    """A log and a tracker in memory, which outlive the processes that use them."""

    folder: Path
    world: MemoryWorld = field(default_factory=MemoryWorld)
    service: MemoryService = field(default_factory=MemoryService)
    trackers: MemoryTrackers | None = None
    """Instead of those in memory."""
    points: int = 0
    """How many points were passed in this life."""
    deadly: int = 0
    """The number of the point at which the process is killed; 0 for none."""

    def start(self, tasks: JsonValue) -> str:
        compiled, _, _ = compile_text(WORKFLOW, {})
        assert compiled.plan is not None, shown(compiled.diagnostics)
        request = runs.Request(PinnedWorkflow(compiled.plan, compiled.hash or ""), str(self.folder), {"tasks": tasks})
        log = self.world.open()
        try:
            return runs.start(make_writer(log), request)
        finally:
            log.close()

    def drive(self) -> None:
        """Live until nothing moves, or until the deadly point."""
        self.points = 0
        log = self.world.open(self._pass)
        self.service.on_point = self._pass
        system = System(log, self.folder / "data", _find, trackers=self.trackers or MemoryTrackers(self.service))
        try:
            asyncio.run(system.supervisor("tester").run_until_idle())
        finally:
            log.close()

    def _pass(self, _: str) -> None:
        self.points += 1
        if self.points == self.deadly:
            raise Killed

    def state(self, run: str) -> RunState:
        return state_of(self.log, run)

    @property
    def log(self) -> MemoryLog:
        return self.world.open()

    @property
    def created(self) -> dict[str, Any]:
        return {stored.issue.title: stored.issue for stored in self.service.issues.values()}


class BeadsTrackers(MemoryTrackers):
    """A catalog for a repository with beads, with the double of `bd`; `on_write` is called after each of its writes."""

    def __init__(self, repository: Path, on_write: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self._repository = repository
        self._on_write = on_write

    def own_place(self, run: str = "") -> str:  # noqa: ARG002 -- there is one repository
        """Return the place of the repository."""
        return "beads/shop-1"

    def tracker(self, place: str, run: str = "") -> Any:  # noqa: ARG002 -- as above
        """Return the tracker of beads."""
        found = find_bd(self._ask, str(self._repository))
        assert isinstance(found, Bd)
        return LocalTracker(BeadsIssues(found, MemoryWorld().open(), lambda: 1000.0, Redactor({}, FORMS)), place)

    def _ask(self, call: ProgramCall) -> ProgramAnswer:
        answer = ask_double(call)
        if call.words[0] in ("create", "update", "dep"):
            self._on_write()
        return answer

    def records(self) -> dict[str, Any]:
        """Return the issues of bd, by their titles."""
        listed = ask_double(ProgramCall(name="bd", words=("list", "--all", "--json"), folder=str(self._repository)))
        return {each["title"]: each for each in json.loads(listed.output)}


def _find(name: str, _: str) -> PinnedWorkflow:
    raise AssertionError(name)


@pytest.fixture
def room(tmp_path: Path) -> IssueRoom:
    return IssueRoom(tmp_path)


def test_a_list_becomes_issues_with_dependencies_and_parents(room: IssueRoom) -> None:
    run = room.start(TASKS)
    room.drive()
    state = room.state(run)
    assert state.status == "succeeded", state.message
    epic, api, ui = (room.created[title] for title in ("Totals", "Compute the total", "Show the total"))
    assert (ui.parent, ui.dependencies, ui.labels) == (epic.ref.id, (Dependency(on=api.ref.id),), ("web", "planned"))
    assert (api.dependencies, api.priority, api.body) == ((Dependency(on=epic.ref.id),), 0, "With taxes.")
    assert epic.kind == "epic"
    output = state.names["issues"]
    assert isinstance(output, list)
    assert [each["title"] for each in output if isinstance(each, dict)] == [
        "Totals",
        "Compute the total",
        "Show the total",
    ]
    assert state.steps["file"].summary.startswith("created 3 issues: ")


def test_each_issue_is_a_fact_of_its_own(room: IssueRoom) -> None:
    run = room.start(TASKS)
    room.drive()
    facts = [event for _, event in events_of(room.log, run) if isinstance(event, ToolCalled)]
    assert [(each.tool, each.success) for each in facts] == [("choose_tracker", True), *[("create_issue", True)] * 3]
    assert [each.arguments.get("title") for each in facts[1:]] == ["Totals", "Compute the total", "Show the total"]


def _count_points(folder: Path) -> int:
    room = IssueRoom(folder)
    room.start(TASKS)
    room.drive()
    return room.points


def test_no_crash_creates_an_issue_twice(tmp_path: Path) -> None:
    total = _count_points(tmp_path)
    assert total > 30
    for deadly in range(1, total + 1):
        room = IssueRoom(tmp_path, deadly=deadly)
        run = room.start(TASKS)
        for _ in range(5):
            try:
                room.drive()
            except (Killed, BaseExceptionGroup):
                room.deadly = 0
            else:
                break
        assert room.state(run).status == "succeeded", (deadly, room.state(run).message)
        assert len(room.service.issues) == 3, deadly
        assert room.created["Show the total"].dependencies == (
            Dependency(on=room.created["Compute the total"].ref.id),
        ), deadly
        facts = [event for _, event in events_of(room.log, run) if isinstance(event, ToolCalled)]
        assert [each.tool for each in facts if each.success].count("create_issue") == 3, deadly


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("BD_JSON_ENVELOPE", raising=False)
    (tmp_path / "shop").mkdir()
    return add_beads(tmp_path / "shop")


def test_a_repository_with_beads_has_its_issues_there(repository: Path) -> None:
    room = IssueRoom(repository, trackers=BeadsTrackers(repository))
    run = room.start(TASKS)
    room.drive()
    state = room.state(run)
    assert state.status == "succeeded", state.message
    created = BeadsTrackers(repository).records()
    api, epic = created["Compute the total"], created["Totals"]
    assert (api["priority"], api["description"], epic["issue_type"]) == (0, "With taxes.", "epic")
    ui = BeadsTrackers(repository).tracker("beads/shop-1").issues.read(created["Show the total"]["id"])
    assert (api["id"], "blocks") in [(each["depends_on_id"], each["type"]) for each in ui.records("dependencies")]
    assert sorted(ui.texts("labels")) == ["planned", "web"]
    output = state.names["issues"]
    assert isinstance(output, list)
    assert [each["tracker"] for each in output if isinstance(each, dict)] == ["beads/shop-1"] * 3


@pytest.mark.parametrize("deadly", range(1, 6))
def test_a_crash_after_any_write_of_bd_creates_no_issue_twice(repository: Path, deadly: int) -> None:
    writes = 0

    def count() -> None:
        nonlocal writes
        writes += 1
        if writes == deadly:
            raise Killed

    room = IssueRoom(repository, trackers=BeadsTrackers(repository, count))
    run = room.start(TASKS)
    with pytest.raises((Killed, BaseExceptionGroup)):
        room.drive()
    room.drive()
    assert room.state(run).status == "succeeded", room.state(run).message
    assert len(BeadsTrackers(repository).records()) == 3


def test_texts_of_any_kind_become_titles(room: IssueRoom) -> None:
    items: JsonValue = [
        "two words",
        {"name": "x\u202e\x1b[31m" + "y" * 2000},
        {"item": {"title": "built"}, "status": "failed"},
    ]
    run = room.start(items)
    room.drive()
    assert room.state(run).status == "succeeded"
    titles = list(room.created)
    assert titles[0] == "two words"
    assert titles[2] == "built"
    assert "\x1b" not in titles[1]
    assert len(titles[1]) < 300


def test_an_empty_list_creates_nothing(room: IssueRoom) -> None:
    run = room.start([])
    room.drive()
    assert room.state(run).status == "succeeded"
    assert room.service.issues == {}
    assert room.state(run).steps["file"].summary == "created 0 issues"


@pytest.mark.parametrize(
    ("items", "says"),
    [
        ([{"id": "a", "title": "A", "after": "b"}, {"id": "b", "title": "B", "after": "a"}], "circular dependency"),
        ([{"id": "a", "title": "A"}, {"id": "a", "title": "B"}], "the same id: 'a'"),
        ([f"issue {number}" for number in range(201)], "at most 200"),
    ],
)
def test_a_list_that_cannot_be_created_creates_nothing(room: IssueRoom, items: JsonValue, says: str) -> None:
    run = room.start(items)
    room.drive()
    state = room.state(run)
    assert state.status == "blocked"
    assert says in state.message
    assert room.service.issues == {}


def test_what_is_not_in_the_list_is_named_in_the_text(room: IssueRoom) -> None:
    room.start([{"title": "A", "depends_on": ["gone"], "parent": "shop-1"}])
    room.drive()
    assert room.created["A"].body == "depends_on: gone\n\nparent: shop-1"
    assert room.created["A"].parent == ""


def test_a_tracker_that_refuses_blocks_the_run_and_it_continues(room: IssueRoom) -> None:
    run = room.start(TASKS)

    def refuse(point: str) -> None:
        if point == "create.before" and len(room.service.issues) == 1:
            raise TrackerFault("the tracker is read-only", next_step="ask its owner")

    log = room.world.open()
    room.service.on_point = refuse
    system = System(log, room.folder / "data", _find, trackers=MemoryTrackers(room.service))
    asyncio.run(system.supervisor("tester").run_until_idle())
    state = room.state(run)
    assert (state.status, "read-only" in state.message) == ("blocked", True)
    runs.resume(make_writer(log), run, "ann")
    log.close()
    room.drive()
    assert room.state(run).status == "succeeded"
    assert len(room.service.issues) == 3


def test_a_busy_tracker_is_waited_for(room: IssueRoom) -> None:
    run = room.start(TASKS)

    def refuse(point: str) -> None:
        if point == "create.before":
            raise TrackerBusy("too many calls", until=1e12)

    room.service.on_point = refuse
    log = room.world.open()
    system = System(log, room.folder / "data", _find, trackers=MemoryTrackers(room.service))
    asyncio.run(system.supervisor("tester").run_until_idle())
    log.close()
    assert room.state(run).status == "waiting"


def test_a_repository_on_a_code_host_has_its_issues_there(pulls: PullRequestRoom) -> None:
    state = pulls.steps.run(WORKFLOW, {}, tasks=["one"])
    assert state.status == "succeeded", state.message
    assert [str(ref) for ref in pulls.service.issues] == ["github.com/acme/shop#1"]


def test_without_a_token_issues_are_local(pulls: PullRequestRoom) -> None:
    def refuse(point: str) -> None:
        if point == "me.before":
            raise NoToken("there is no token")

    pulls.service.on_point = refuse
    state = pulls.steps.run(WORKFLOW, {}, tasks=["one"])
    assert state.status == "succeeded", state.message
    assert [ref.place for ref in pulls.service.issues] == ["local"]


def test_a_rewind_and_a_second_pass_find_the_same_issues(pulls: PullRequestRoom) -> None:
    state = pulls.steps.run(WORKFLOW, {}, tasks=TASKS)
    pulls.rewind(state.run, "file")
    assert pulls.steps.state(state.run).status == "succeeded"
    assert len(pulls.service.issues) == 3
