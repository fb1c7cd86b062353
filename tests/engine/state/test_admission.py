"""Whose turn it is: never two with one key, never more than may, first come first served, and nobody is forgotten."""

from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from handrail.engine.state.admission import AdmissionCandidate, is_circular, judge
from handrail.model.history.events import Admission

KEYS = ("", "a", "b")


@st.composite
def lines(draw: st.DrawFn) -> list[AdmissionCandidate]:
    """Some runs that came one after the other, under the same limit."""
    places = draw(st.sampled_from([(), (("", 1),), (("", 2),), (("", 3), ("r", 2))]))
    keys = draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=7))
    return [
        AdmissionCandidate(f"w-{number}", f"w-{number}", Admission("r", key, places=places), number, is_queued=True)
        for number, key in enumerate(keys, 1)
    ]


def admitted(line: list[AdmissionCandidate]) -> list[AdmissionCandidate]:
    """Let the first go on whose turn it is, as whoever drives does, behind the gate."""
    verdicts = judge(line)
    run = next((each.run for each in line if each.run in verdicts and verdicts[each.run].can_go), None)
    return [
        replace(each, is_queued=False, has_key=True, has_place=bool(each.admission.places)) if each.run == run else each
        for each in line
    ]


@given(lines(), st.randoms(use_true_random=False))
def test_every_run_gets_its_turn_and_none_too_early(line: list[AdmissionCandidate], chance: Random) -> None:
    order: list[AdmissionCandidate] = []
    while line:
        after = admitted(line)
        order += [each for each, before in zip(after, line, strict=True) if before.is_queued and not each.is_queued]
        moved, line = after != line, after
        inside = [each for each in line if not each.is_queued]
        keys = [each.key for each in inside if each.key is not None]
        assert len(keys) == len(set(keys)), "two have one key"
        for name, most in line[0].admission.places:
            assert sum(name in dict(each.admission.places) for each in inside) <= most
        if not moved:
            assert inside, "nobody is inside, and nobody may go in"
            gone = chance.choice(inside)
            line = [each for each in line if each is not gone]
    for key in KEYS[1:]:
        same = [each.order for each in order if each.admission.key == key]
        assert same == sorted(same), "one with the same key came first and went later"
    if all(not each.admission.key for each in order):
        assert [each.order for each in order] == sorted(each.order for each in order)


@given(lines())
def test_asking_changes_nothing_and_the_order_of_asking_does_not_matter(line: list[AdmissionCandidate]) -> None:
    assert judge(line) == judge(list(reversed(line))) == judge(line)


def test_a_run_that_waits_for_its_key_holds_up_none_that_needs_another() -> None:
    has = AdmissionCandidate("w-1", "w-1", Admission("r", "a", places=(("", 2),)), 1, has_key=True, has_place=True)
    waits = AdmissionCandidate("w-2", "w-2", Admission("r", "a", places=(("", 2),)), 2, is_queued=True)
    free = AdmissionCandidate("w-3", "w-3", Admission("r", "", places=(("", 2),)), 3, is_queued=True)
    found = judge([has, waits, free])
    assert (found["w-2"].waits_for, found["w-2"].behind) == ("key", ("w-1",))
    assert found["w-3"].can_go


def test_the_same_key_in_another_repository_is_another_key() -> None:
    has = AdmissionCandidate("w-1", "w-1", Admission("one", "a"), 1, has_key=True)
    other = AdmissionCandidate("w-2", "w-2", Admission("two", "a"), 2, is_queued=True)
    assert judge([has, other])["w-2"].can_go


def test_a_child_shares_the_place_of_its_root() -> None:
    places = (("", 1),)
    root = AdmissionCandidate("w-1", "w-1", Admission("r", places=places), 1, has_key=True, has_place=True)
    child = AdmissionCandidate("w-1.2", "w-1", Admission("r", places=places), 2, is_queued=True, has_place=True)
    assert judge([root, child])["w-1.2"].can_go


def test_two_trees_that_wait_for_each_other_are_seen() -> None:
    line = [
        AdmissionCandidate("x-1", "x-1", Admission("r", "x"), 1, has_key=True),
        AdmissionCandidate("y-1", "y-1", Admission("r", "y"), 2, has_key=True),
        AdmissionCandidate("x-1.2", "x-1", Admission("r", "y"), 3, is_queued=True),
    ]
    assert not is_circular(line, judge(line), "x-1.2")
    line.append(AdmissionCandidate("y-1.2", "y-1", Admission("r", "x"), 4, is_queued=True))
    assert is_circular(line, judge(line), "y-1.2")
