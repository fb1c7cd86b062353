"""Runs of every kind come out of one log and into another whole: events, children, and each blob that they name."""

import json
import re
from contextlib import closing
from pathlib import Path
from typing import Any, cast, get_args

from handrail.engine.state.codec import encode_state
from handrail.errors import NotFound
from handrail.model.history.events import ChildEnded, Event, ItemStarted
from handrail.model.history.named_blobs import digest_fields
from handrail.model.history.run_state import RunState
from handrail.operations.delivery.export_import import ELSEWHERE, ImportContext, export, import_run
from handrail.operations.runs import lifecycle as runs
from handrail.operations.views.run_tree import family
from handrail.ports.log import Log
from handrail.runtime.event_records import STRUCTURE
from handrail.runtime.history import state_before, state_of
from handrail.store.sqlite.log import open_log
from support.pull.tools_room import ToolsRoom, tool
from support.runtime.flow_home import Flows
from support.runtime.room import assert_sound, of_kind
from support.runtime.steps_room import StepsRoom

ARRIVAL = ImportContext(by="person:ann", at=0.0, is_taken=lambda _: False)
DIGEST = re.compile(r"\b[0-9a-f]{64}\b")
FAN = """
name: fan
steps:
  - name: list
    command: printf '["a", "b"]'
    returns: [string]
    output: items
  - name: build
    type: parallel-agents
    for_each: ${items}
    key: item
    steps:
      - {name: implement, prompt: "Do {{ item }} now."}
    output: built
  - {name: combine, type: merge, from: "${built}"}
  - {name: called, type: workflow, workflow: small}
  - {name: last, command: ls, output: seen}
"""
SMALL = "name: small\nsteps:\n  - {name: only, command: echo small, output: said}\n"
SCRIPT: dict[str, Any] = {
    f"build[{name}]/implement": [{"files": {f"{name}.txt": f"{name}\n"}, "say": name, "repeat": True}] for name in "ab"
}
FLOW = """\
async def run(ctx):
    said = await ctx.run_step("greet", command="echo hello")
    answer = await ctx.approve(said.output)
    return answer.decision
"""


def kept_digests(log: Log, texts: list[str]) -> set[str]:
    """The digests in some texts by which the log keeps a blob, and those in these blobs."""
    found: set[str] = set()
    for digest in {digest for text in texts for digest in DIGEST.findall(text)}:
        try:
            content = log.get_blob(digest)
        except NotFound:
            continue
        found |= {digest} | kept_digests(log, [content.decode()])
    return found


def states(log: Log, run: str) -> dict[str, bytes]:
    return {each: encode_state(state_of(log, each)) for each in family(log, run)}


def came_in(log: Log, run: str) -> dict[str, bytes]:
    """The states that the histories of an import stand for, without the event by which they came in."""
    found = {each: encode_state(state_before(log, each, log.last(each).seq)) for each in family(log, run)}
    return {each: state.replace(ELSEWHERE.encode(), b"") for each, state in found.items()}


def texts_of(bundle: dict[str, Any]) -> dict[str, list[str]]:
    return {each["run"]: [event["payload"] for event in each["events"]] for each in bundle["streams"]}


def renamed(states: dict[str, bytes], old: str, new: str) -> dict[str, bytes]:
    return {run.replace(old, new): state.replace(old.encode(), new.encode()) for run, state in states.items()}


def check_whole(log: Log, run: str, elsewhere: Path) -> str:
    """Take a finished run to another log and into its own once more; give the id that it has there."""
    bundle = export(log, run)
    payloads = [event["payload"] for stream in bundle["streams"] for event in stream["events"]]
    assert bundle["blobs"].keys() == kept_digests(log, payloads)
    data, before = json.dumps(bundle).encode(), states(log, run)
    with closing(open_log(elsewhere)) as other:
        assert import_run(other, data, ARRIVAL).run == run
        assert came_in(other, run) == before
        assert_sound(other)
        there = texts_of(export(other, run))
        assert {
            name: [text.replace(ELSEWHERE, "") for text in found[:-1]] for name, found in there.items()
        } == texts_of(bundle)
    again = import_run(log, data, ARRIVAL).run
    # Branches keep the names that they have in git, so those of the original stand in both.
    assert renamed(came_in(log, again), again, run) == before
    assert all(_owns_nothing(state_of(log, each)) for each in family(log, again))
    return again


def _owns_nothing(state: RunState) -> bool:
    places = (state.tree, state.source, state.workspace, state.restore, state.pass_env, state.forked_from)
    sessions = {step.session for step in state.steps.values()}
    return state.foreign and not any(places) and sessions <= {""} and state.held_by == "person:ann"


def finish(shop: StepsRoom) -> RunState:
    shop.workflows = {"small": SMALL}
    state = shop.run(FAN, SCRIPT)
    assert state.status == "succeeded", state.message
    return state


def test_a_run_with_items_a_merge_and_a_called_workflow(shop: StepsRoom, tmp_path: Path) -> None:
    run = finish(shop).run
    again = check_whole(shop.log, run, tmp_path / "other")
    children = [event.child for event in of_kind(shop.log, again, ItemStarted)]
    assert len(children) == 2
    assert set(children) < set(family(shop.log, again))


def test_a_run_that_was_rewound_and_a_fork_of_it(shop: StepsRoom, tmp_path: Path) -> None:
    run = finish(shop).run
    runs.rewind(shop.writer, run, "combine", "ann")
    shop.drive()
    copy = runs.fork(shop.writer, run, "last", "ann")
    shop.drive()
    assert [shop.state(each).status for each in (run, copy)] == ["succeeded", "succeeded"]
    check_whole(shop.log, run, tmp_path / "one")
    check_whole(shop.log, copy, tmp_path / "two")


def test_a_dynamic_flow(flows: Flows, tmp_path: Path) -> None:
    run = flows.start(FLOW)
    flows.drive(run)
    runs.answer(flows.home.writer, run, "approve", "ann")
    assert flows.drive(run).status == "succeeded"
    check_whole(flows.home.log, run, tmp_path / "other")


def test_a_run_whose_agent_started_another_by_a_tool(tmp_path: Path) -> None:
    room = ToolsRoom(tmp_path)
    room.work()
    calls = [tool("create_child_run", workflow="small", goal="be small", wait=True, expect="started")]
    room.run(do=[{"call_tool": calls, "output": "all"}], tiny={"output": "tiny thing"})
    room.close()
    room.until(lambda: "background" not in room.handrail("status"))
    with room.log() as log:
        again = check_whole(log, "work-1", tmp_path / "other")
        (ended,) = of_kind(log, again, ChildEnded)
        assert [*state_of(log, again).children] == [ended.child] == [*family(log, again)[1:]]


def test_what_is_half_done_comes_in_with_what_its_agent_plays(shop: StepsRoom, tmp_path: Path) -> None:
    text = "name: ask\nsteps:\n  - {name: ok, type: approval, message: Go on?}\n  - {name: write, prompt: Write it.}\n"
    state = shop.run(text, {"write": [{"say": "written"}]})
    data = json.dumps(export(shop.log, state.run)).encode()
    with closing(open_log(tmp_path / "other")) as other:
        assert import_run(other, data, ARRIVAL).held
        assert other.get_blob(state.script) == shop.log.get_blob(state.script)


def test_no_secret_is_looked_for_in_a_digest() -> None:
    assert {name for kind in get_args(Event) for name in digest_fields(kind)} <= STRUCTURE


def test_the_fields_that_hold_digests_are_marked() -> None:
    marked = {cast("type", kind).__name__: digest_fields(kind) for kind in (*get_args(Event), RunState)}
    assert {name: fields for name, fields in marked.items() if fields} == {
        "RunStarted": ("plan", "script", "scope", "calls", "given"),
        "ChildStarted": ("plan",),
        "RunForked": ("state",),
        "RunRewound": ("state",),
        "RunState": ("plan", "script", "calls", "given"),
    }
