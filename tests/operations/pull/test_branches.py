"""Going on from an earlier step begins a copy of the run, always the same one for the same token."""

from handrail.model.history.events import CheckpointMade
from support.pull.room import Pull, Said, chain, definition, step


def same(one: Said, other: Said) -> bool:
    return (one.texts, one.data, one.is_error) == (other.texts, other.data, other.is_error)


def test_going_on_from_an_earlier_step_begins_a_branch_with_a_context_of_its_own(pull: Pull) -> None:
    shown = step("tell", prompt="x is {{x}}, y is {{y}}.")
    first = pull.start(definition(step("one"), step("two"), shown))
    second = pull.advance(first, context={"x": "kept"})
    third = pull.advance(second, context={"y": "of the source"})
    assert "x is `kept`, y is `of the source`." in third.pending["prompt"]
    source, events = first.run, pull.events(first.run)
    away = pull.rehydrate(second)
    assert away.address == "two"
    assert away.token != second.token
    branched = pull.advance(away)
    assert branched.run != source
    assert "x is `kept`, y is [unset: y]." in branched.pending["prompt"]
    assert pull.advance(branched, context={"x": "changed"}).complete
    assert pull.events(source) == events
    assert pull.state(source).context["x"] == "kept"
    assert pull.advance(third).complete
    pull.assert_sound()


def test_a_branch_token_used_twice_is_one_branch_and_two_of_them_are_two(pull: Pull) -> None:
    first = pull.start(chain(3))
    second = pull.advance(first)
    pull.advance(second)
    one, other = pull.rehydrate(second), pull.rehydrate(second)
    assert one.token != other.token
    answer = pull.advance(one)
    assert same(pull.advance(one), answer)
    second_desk = pull.again()
    assert second_desk.advance(one, "elsewhere").unwarned == answer.unwarned
    second_desk.close()
    assert len(pull.size()) == 2
    assert pull.advance(other).run not in (first.run, answer.run)
    assert pull.rehydrate(one).address == "step-3"


def test_a_branch_can_be_branched_again(pull: Pull) -> None:
    first = pull.start(chain(4))
    second = pull.advance(first)
    pull.advance(second)
    on_branch = pull.advance(pull.rehydrate(second))
    tip = pull.advance(on_branch)
    again = pull.advance(pull.rehydrate(on_branch))
    assert (tip.address, again.address) == ("step-4", "step-4")
    assert len({first.run, tip.run, again.run}) == 3
    assert pull.advance(again).complete
    assert pull.advance(tip).complete
    pull.assert_sound()


def test_a_kept_point_is_kept_once_and_leads_back_to_its_step(pull: Pull) -> None:
    first = pull.start(chain(3))
    kept = pull.checkpoint(first)
    assert same(pull.checkpoint(first), kept)
    assert len([each for each in pull.events(first.run) if isinstance(each, CheckpointMade)]) == 1
    second = pull.advance(first)
    assert second.address == "step-2"
    assert same(pull.checkpoint(first), kept)
    assert len([each for each in pull.events(first.run) if isinstance(each, CheckpointMade)]) == 1
    back = pull.rehydrate(kept.data["resumeToken"])
    assert back.address == "step-1"
    assert pull.advance(back).run != first.run
