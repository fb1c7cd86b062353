"""The runs of an imported file belong to it by what is recorded, and none of them is or claims a run that is here."""

import copy
import json
from base64 import b64encode
from typing import Any, cast

import pytest

from handrail.engine.state.codec import encode_state
from handrail.errors import UsageError
from handrail.model.codec import encode
from handrail.model.history.events import ChildEnded, Parent, RunRewound, RunStarted
from handrail.operations.delivery.export_import import ImportContext, export, import_run
from handrail.operations.views.run_tree import family
from handrail.ports.hash_chain import digest_of
from handrail.ports.log import Log
from handrail.runtime.history import state_of
from handrail.store.memory.log import MemoryWorld
from handrail.wiring.system import make_writer
from support.runtime.ended_runs import end_run
from support.security.forged_runs import Bundle, forge

ARRIVAL = ImportContext(by="person:ann", at=50.0, is_taken=lambda _: False)


def begin(log: Log, run: str, around: str = "", **kin: Any) -> None:
    plan = log.put_blob(b'{"name":"work","steps":[]}')
    if around:
        kin = {"root": around, "generation": 1, **kin, "parent": Parent(around, "call", 1)}
    started = RunStarted(run=run, workflow="work", definition="", plan=plan, inputs={}, workspace="", at=1.0, **kin)
    make_writer(log).begin(run, started)


def whole(*children: str) -> Bundle:
    """Give a file with a run and others that say they come from it."""
    log = MemoryWorld().open()
    begin(log, "work-1")
    for each in children:
        begin(log, each, "work-1")
    return export(log, "work-1")


def here() -> Log:
    """Give a log in which another run stands with one that it called."""
    log = MemoryWorld().open()
    begin(log, "victim-1")
    begin(log, "victim-1.4", "victim-1")
    return log


def take_in(log: Log, bundle: Bundle) -> str:
    return import_run(log, json.dumps(bundle).encode(), ARRIVAL).run


def stream_of(bundle: Bundle, run: str) -> dict[str, Any]:
    return next(each for each in bundle["streams"] if each["run"] == run)


def with_event(bundle: Bundle, run: str, **fields: Any) -> Bundle:
    """Give the file with one more event of a run."""
    changed = copy.deepcopy(bundle)
    events = stream_of(changed, run)["events"]
    events.append({**events[0], "kind": fields["kind"], "payload": json.dumps(fields)})
    return forge(changed, lambda data: data)


def with_name(bundle: Bundle, old: str, new: str) -> Bundle:
    """Give the file with another id for a run, whatever that is."""
    changed = copy.deepcopy(bundle)
    stream_of(changed, old)["run"] = new
    return forge(changed, lambda data: {**data, "run": new} if data.get("run") == old else data)


def test_runs_of_a_file_get_ids_below_the_first_whatever_they_were_called() -> None:
    log = here()
    assert take_in(log, whole("work-1.4", "victim-1", "inner-7")) == "work-1"
    assert set(family(log, "work-1")) == {"work-1", "work-1.4", "work-1.victim-1", "work-1.inner-7"}
    assert family(log, "victim-1") == ("victim-1", "victim-1.4")


def test_an_id_is_not_free_as_long_as_any_history_is_named_after_it() -> None:
    log = MemoryWorld().open()
    begin(log, "work-1.4")
    assert take_in(log, whole("work-1.4")) != "work-1"


@pytest.mark.parametrize("name", ["../../x", "x/../y", "work-1./../y", "work-1..4", "work-1.", "a b", "x/y", "é", ""])
def test_an_id_that_is_none_is_refused(name: str) -> None:
    log = here()
    with pytest.raises(UsageError):
        take_in(log, with_name(whole("inner-7"), "inner-7", name))
    assert len(log.streams()) == 2


def test_two_runs_that_would_have_the_same_id_are_refused() -> None:
    with pytest.raises(UsageError, match="the same id here"):
        take_in(here(), whole("inner-7", "work-1.inner-7"))


def test_two_histories_of_one_run_are_refused() -> None:
    bundle = whole("work-1.4")
    bundle["streams"].append(bundle["streams"][-1])
    with pytest.raises(UsageError, match="two histories"):
        take_in(here(), bundle)


def test_runs_that_come_from_each_other_are_refused() -> None:
    around = {"work-1.4": "work-1.5", "work-1.5": "work-1.4"}

    def turn(data: Any) -> Any:
        if data.get("run") in around:
            data["parent"]["run"] = around[data["run"]]
        return data

    with pytest.raises(UsageError, match="was not started by a run in the file"):
        take_in(here(), forge(whole("work-1.4", "work-1.5"), turn))


@pytest.mark.parametrize("child", ["victim-1", "victim-1.4", "work-1.4.9", "work-12.3", "work-1/x", "work-1"])
def test_a_run_may_name_only_children_of_its_own(child: str) -> None:
    ended = cast("dict[str, Any]", encode(ChildEnded(child=child, status="succeeded", at=2.0)))
    with pytest.raises(UsageError, match="refers to a run that it did not start"):
        take_in(here(), with_event(whole("work-1.4"), "work-1", **ended))
    ended["child"] = "work-1.4"
    assert take_in(here(), with_event(whole("work-1.4"), "work-1", **ended)) == "work-1"


def test_a_run_claims_no_family_that_it_does_not_come_from() -> None:
    def claim(data: Any) -> Any:
        return {**data, "root": "victim-1", "generation": -9} if data.get("kind") == "run_started" else data

    log = here()
    assert take_in(log, forge(whole("work-1.4"), claim)) == "work-1"
    assert family(log, "victim-1") == ("victim-1", "victim-1.4")
    found = [state_of(log, each) for each in ("work-1", "work-1.4")]
    assert [(each.family, each.generation) for each in found] == [("work-1", 0), ("work-1", 1)]


def test_a_state_to_which_a_run_was_rewound_claims_no_family_either() -> None:
    source = MemoryWorld().open()
    begin(source, "work-1")
    kept = source.put_blob(encode_state(state_of(source, "work-1")))
    end_run(source, "work-1", RunRewound(to="x", seq=1, state=kept, crossed=(), by="ann", at=2.0))
    bundle = export(source, "work-1")
    (data,) = [json.loads(source.get_blob(kept))]
    forged = json.dumps({**data, "root": "victim-1", "generation": 7}).encode()
    text = json.dumps(bundle).replace(kept, digest_of(forged))
    changed = json.loads(text)
    changed["blobs"][digest_of(forged)] = b64encode(forged).decode()
    log = here()
    run = take_in(log, forge(changed, lambda each: each))
    assert family(log, "victim-1") == ("victim-1", "victim-1.4")
    assert (state_of(log, run).family, state_of(log, run).generation) == (run, 0)
