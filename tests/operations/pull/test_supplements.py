"""What goes with an answer as items of its own: told to who begins or comes back, never in between, never stored."""

import pytest

from handrail.operations.pull.supplements import SUPPLEMENTS, Supplement, supplements_for
from support.pull.room import Pull, chain

START = ["executor_directive", "authority_context", "notes_guidance", "subagent_guidance"]


def test_an_agent_that_begins_gets_four_items_before_its_step(pull: Pull) -> None:
    said = pull.start(chain(2))
    assert [each["kind"] for each in said.data["supplements"]] == START
    assert said.texts[:-1] == tuple(each.text for each in SUPPLEMENTS)
    assert said.texts[-1].startswith("# Title of step-1")


def test_an_agent_that_goes_on_gets_its_step_alone(pull: Pull) -> None:
    said = pull.advance(pull.start(chain(2)))
    assert len(said.texts) == 1
    assert "supplements" not in said.data


def test_an_agent_that_comes_back_gets_all_but_what_is_told_once(pull: Pull) -> None:
    again = pull.rehydrate(pull.start(chain(2)))
    assert [each["kind"] for each in again.data["supplements"]] == [each for each in START if each != "notes_guidance"]
    assert len(again.texts) == 4


def test_what_was_delivered_is_not_recorded(pull: Pull) -> None:
    said = pull.start(chain(2))
    before = pull.size()
    first, second = pull.rehydrate(said), pull.rehydrate(said)
    assert first.texts == second.texts
    assert pull.size() == before
    assert not any("How this works" in str(event) for event in pull.events(said.run))


def test_items_come_in_their_order_whatever_the_order_of_the_table() -> None:
    late = Supplement(kind="late", order=9, text="b")
    early = Supplement(kind="early", order=1, text="a")
    assert [item.kind for item in supplements_for("start", (late, early))] == ["early", "late"]
    assert supplements_for("advance", (late, early)) == ()


def test_one_that_is_told_once_on_return_is_not_told_at_the_start() -> None:
    once = Supplement(kind="once", order=1, text="a", delivery="once_per_session", emit_on="rehydrate")
    assert [len(supplements_for(moment, (once,))) for moment in ("start", "advance", "rehydrate")] == [0, 0, 1]


def test_one_that_could_never_be_told_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="sent on start, which is not one of its lifecycles"):
        Supplement(kind="x", order=1, text="a", lifecycles=("rehydrate",), delivery="once_per_session", emit_on="start")
    with pytest.raises(ValueError, match="emit_on belongs to once_per_session"):
        Supplement(kind="x", order=1, text="a", emit_on="start")
    with pytest.raises(ValueError, match="emit_on belongs to once_per_session"):
        Supplement(kind="x", order=1, text="a", delivery="once_per_session")
    with pytest.raises(ValueError, match="gets only its next step"):
        Supplement(kind="x", order=1, text="a", lifecycles=("advance",))
