"""A run with a large issue: its text is stored once, whatever becomes of the run."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from handrail.engine.state.given import START_AGAIN
from handrail.errors import StorageDamaged
from handrail.model.history.events import ItemStarted, RunForked, RunRewound, RunStarted
from handrail.operations.delivery.export_import import ImportContext, export, import_run
from handrail.operations.doctor.repair import cut_unreadable, examine_runs
from handrail.operations.runs import lifecycle as runs
from handrail.operations.views.run_tree import family
from handrail.runtime.history import state_before
from handrail.store.sqlite.log import open_log
from support.runtime.room import assert_sound, of_kind
from support.runtime.steps_room import StepsRoom

MARK = "the total is wrong in every invoice. "
ISSUE = MARK * 2000
ARRIVAL = ImportContext(by="person:ann", at=0.0, is_taken=lambda _: False)
FAN = """
name: fan
input: {report: string}
steps:
  - {name: first, command: "printf %s ${report} | wc -c", output: size}
  - name: build
    type: parallel-agents
    for_each: [a, b, c]
    key: item
    steps:
      - {name: implement, command: "printf %s ${report} | wc -c > ${item}.txt", output: counted}
  - {name: called, type: workflow, workflow: small, input: {report: "${report}"}}
  - {name: last, command: "printf %s ${report} | wc -c", output: again}
"""
SMALL = """
name: small
input: {report: string}
steps:
  - {name: only, command: "printf %s ${report} | wc -c", output: said}
"""


def test_children_copies_and_kept_states_name_what_the_run_was_given(shop: StepsRoom, tmp_path: Path) -> None:
    shop.workflows = {"small": SMALL}
    state = shop.run(FAN, {}, report=ISSUE)
    assert state.status == "succeeded", state.message
    runs.rewind(shop.writer, state.run, "last", "ann")
    shop.drive()
    copy = runs.fork(shop.writer, state.run, "last", "ann")
    shop.drive()
    assert [shop.state(each).names["again"] for each in (state.run, copy)] == [str(len(ISSUE))] * 2
    (started,) = of_kind(shop.log, state.run, RunStarted)
    children = [event.child for event in of_kind(shop.log, state.run, ItemStarted)]
    assert {of_kind(shop.log, each, RunStarted)[0].given for each in children} == {started.given} != {""}
    (rewound,), (forked,) = of_kind(shop.log, state.run, RunRewound), of_kind(shop.log, copy, RunForked)
    assert all(MARK.encode() not in shop.log.get_blob(each.state) for each in (rewound, forked))
    firsts = [shop.log.read(each, limit=1)[0].payload for each in family(shop.log, state.run)]
    assert max(map(len, firsts)) < 4000
    for run in (state.run, copy):
        data = json.dumps(export(shop.log, run)).encode()
        with closing(open_log(tmp_path / run)) as other:
            assert import_run(other, data, ARRIVAL).run == run
            there = state_before(other, run, other.last(run).seq)
            assert (there.inputs, there.given) == (shop.state(run).inputs, started.given)
            assert_sound(other)


def test_a_secret_among_large_inputs_is_in_no_content(shop: StepsRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_API_TOKEN", "s3cr3t-of-the-shop-0815")
    state = shop.run(SMALL, {}, report=f"{ISSUE} s3cr3t-of-the-shop-0815")
    assert state.status == "succeeded"
    content = shop.log.get_blob(state.given)
    assert MARK.encode() in content
    assert b"s3cr3t-of" not in content


def test_what_was_erased_is_said_everywhere_and_nothing_else_is_lost(shop: StepsRoom) -> None:
    state = shop.run("name: ask\ninput: {report: string}\nsteps:\n  - {name: ok, type: approval}\n", {}, report=ISSUE)
    assert shop.log.erase_blob(state.given)
    with pytest.raises(StorageDamaged, match="the inputs of the run are missing") as caught:
        shop.state(state.run)
    assert caught.value.next_step == START_AGAIN
    assert [each.problem for each in examine_runs(shop.log)] == [caught.value.message]
    assert cut_unreadable(shop.log) == ()
    shop.log.put_blob(json.dumps({"inputs": {"report": ISSUE}, "task": ""}, separators=(",", ":")).encode())
    assert shop.state(state.run) == state
    assert shop.answer(state.run, "approve").status == "succeeded"
