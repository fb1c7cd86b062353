"""What lists are filtered by says what the events of a run say, whatever brought the run about or damaged its row."""

import json
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.engine.fold.apply import apply
from handrail.engine.state.codec import encode_state
from handrail.model.history.events import Parent, RunBlocked, RunEnded, RunRewound, RunStarted
from handrail.model.history.run_lines import Filter, is_run
from handrail.model.history.run_state import RunState
from handrail.model.history.trees import TreeSource
from handrail.operations.delivery.export_import import ImportContext, export, import_run
from handrail.operations.doctor.repair import repair_lists
from handrail.operations.runs import lifecycle
from handrail.ports.log import Log
from handrail.runtime.event_records import decode_event
from handrail.runtime.history import state_before, state_of
from handrail.runtime.run_summary import repository_of, summary_of
from handrail.store.sqlite.connection import FILE
from handrail.store.sqlite.log import open_log
from handrail.wiring.system import make_writer
from support.runtime.ended_runs import end_run
from support.runtime.steps_room import StepsRoom

COLUMNS = ("workflow", "repository", "parent", "root", "started", "status")
ARRIVAL = ImportContext(by="person:ann", at=50.0, is_taken=lambda _: False)
PLAN = b'{"name":"work","steps":[]}'
FAN = """
name: fan
steps:
  - name: build
    type: parallel-agents
    for_each: ["a", "b"]
    key: item
    steps:
      - {name: implement, prompt: "Do {{ item }} now."}
  - {name: called, type: workflow, workflow: small}
  - {name: last, command: ls}
"""
SMALL = "name: small\nsteps:\n  - {name: only, command: echo small}\n"


def fold(log: Log, run: str) -> RunState:
    """Fold every event of a run, without what was kept of it."""
    state: RunState | None = None
    for stored in log.read(run):
        state = apply(state, decode_event(stored), stored.seq, log.get_blob)
    assert state is not None
    return state


def parent_of(log: Log, run: str) -> str | None:
    first = decode_event(log.read(run, limit=1)[0])
    return first.parent.run if isinstance(first, RunStarted) and first.parent is not None else None


def root_of(log: Log, run: str) -> str:
    """Go up by what each first event says of its caller alone."""
    above = parent_of(log, run)
    return run if above is None else root_of(log, above)


def generation_of(log: Log, run: str) -> int:
    above = parent_of(log, run)
    return 0 if above is None else 1 + generation_of(log, above)


def check_columns(log: Log) -> None:
    """Hold the row of every run to its events."""
    rows = {row.key: row for row in log.summaries(Filter())}
    assert set(rows) == {each for each in log.streams() if is_run(each)}
    for run, row in rows.items():
        state = fold(log, run)
        assert row.document == summary_of(state)
        found = (row.facts.workflow, row.facts.parent, row.facts.root, row.facts.started)
        assert found == (state.workflow, parent_of(log, run), root_of(log, run), state.birth)
        assert (row.facts.repository or "") == repository_of(state)
        assert (state.family, state.generation) == (root_of(log, run), generation_of(log, run))
        wanted = Filter(workflow=state.workflow, root=state.family, status=state.status)
        assert run in log.keys(wanted), "found by its columns, not by its line alone"


@dataclass(slots=True)
class Past:
    """Runs that come about, change and are damaged."""

    folder: Path
    log: Log
    runs: list[str] = field(default_factory=list[str])

    def start(self, number: int) -> None:
        self._begin(f"work-{len(self.runs) + 1}", f"/repository-{number}" if number else "")

    def child(self, number: int) -> None:
        """Start a run whose id says nothing of where it comes from."""
        around = state_of(self.log, self._pick(number))
        kin: dict[str, Any] = {"root": around.family, "generation": around.generation + 1}
        self._begin(f"inner-{len(self.runs) + 1}", parent=Parent(around.run, "call", around.seq), **kin)

    def end(self, number: int) -> None:
        run = self._pick(number)
        if not state_of(self.log, run).is_over:
            end_run(self.log, run, RunEnded(status="failed" if number % 2 else "succeeded", at=9.0))

    def block(self, number: int) -> None:
        run = self._pick(number)
        if state_of(self.log, run).status == "running":
            end_run(self.log, run, RunBlocked(reason="fault", message="broke", at=8.0))

    def rewind(self, number: int) -> None:
        """Go back to a state that an older Handrail kept, which knew neither root nor generation."""
        run = self._pick(number)
        seq = self.log.last(run).seq
        state = json.loads(encode_state(state_before(self.log, run, seq) if seq > 1 else state_of(self.log, run)))
        for name in ("root", "generation"):
            state.pop(name, None)
        kept = self.log.put_blob(json.dumps(state).encode())
        end_run(self.log, run, RunRewound(to="x", seq=seq, state=kept, crossed=(), by="ann", at=7.0))

    def fork(self, number: int) -> None:
        self.runs.append(lifecycle.fork(make_writer(self.log), self._pick(number), None, "ann"))

    def take_in(self, number: int) -> None:
        data = json.dumps(export(self.log, self._pick(number))).encode()
        known = set(self.log.streams())
        import_run(self.log, data, ARRIVAL)
        self.runs += sorted(set(self.log.streams()) - known)

    def spoil(self, number: int) -> None:
        """Write something else into a column, behind the back of the log; then repair as the doctor does."""
        column = COLUMNS[number % len(COLUMNS)]
        with closing(sqlite3.connect(self.folder / FILE)) as database, database:
            database.execute(f"UPDATE streams SET {column} = '7' WHERE name = ?", (self._pick(number),))
        repair_lists(self.log)

    def _pick(self, number: int) -> str:
        if not self.runs:
            self.start(0)
        return self.runs[number % len(self.runs)]

    def _begin(self, run: str, repository: str = "", **kin: Any) -> None:
        source = TreeSource(repository=repository, base="main", commit="0" * 40, branch="b") if repository else None
        about: dict[str, Any] = {"run": run, "workflow": run.partition("-")[0], "definition": "", "workspace": ""}
        plan = self.log.put_blob(PLAN)
        started = RunStarted(
            **about, plan=plan, inputs={"goal": "text " * 99}, at=float(len(self.runs)), source=source, **kin
        )
        make_writer(self.log).begin(run, started)
        self.runs.append(run)


STEPS = st.sampled_from(["start", "child", "child", "end", "block", "rewind", "fork", "take_in", "spoil"])


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(STEPS, st.integers(0, 11)), max_size=9))
def test_the_columns_of_a_run_are_what_its_events_say(steps: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as name, closing(open_log(Path(name))) as log:
        past = Past(Path(name), log)
        for step, number in steps:
            getattr(past, step)(number)
            check_columns(log)


def test_the_columns_of_runs_that_were_driven_rewound_copied_and_taken_in(shop: StepsRoom, tmp_path: Path) -> None:
    shop.workflows = {"small": SMALL}
    script: dict[str, Any] = {f"build[{key}]/implement": [{"say": key, "repeat": True}] for key in "ab"}
    run = shop.run(FAN, script).run
    assert len(shop.log.keys(Filter(root=run))) == 4
    check_columns(shop.log)
    lifecycle.rewind(shop.writer, run, "called", "ann")
    shop.drive()
    check_columns(shop.log)
    lifecycle.fork(shop.writer, run, "last", "ann")
    shop.drive()
    data = json.dumps(export(shop.log, run)).encode()
    import_run(shop.log, data, ARRIVAL)
    check_columns(shop.log)
    with closing(open_log(tmp_path / "other")) as other:
        import_run(other, data, ARRIVAL)
        check_columns(other)
