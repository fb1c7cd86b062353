"""Which ways fit the path of a test, and how a difference is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.operations.scenarios.addresses import is_same_step, is_within_step
from handrail.operations.scenarios.paths import difference, is_expected_path

STEPS = st.lists(
    st.sampled_from(["a", "b", "checks", "checks/fix", "loop@1/a", "loop@2/a", "build[x]/do", "build[y]/do"]),
    max_size=8,
)


@given(STEPS)
def test_every_way_fits_itself(walked: list[str]) -> None:
    assert is_expected_path(walked, walked)
    assert all(mark == " " for mark, _ in difference(walked, walked))


@given(STEPS)
def test_a_gap_is_any_steps_or_none(walked: list[str]) -> None:
    assert is_expected_path(["..."], walked)
    assert is_expected_path(["...", *walked, "..."], walked)


@given(STEPS, STEPS)
def test_a_gap_between_takes_what_lies_between(first: list[str], last: list[str]) -> None:
    assert is_expected_path([*first, "...", *last], [*first, "b", "a", *last])


@given(STEPS)
def test_a_step_more_than_was_walked_does_not_fit(walked: list[str]) -> None:
    assert not is_expected_path([*walked, "never"], walked)
    assert ("-", "never") in difference([*walked, "never"], walked)


@pytest.mark.parametrize(
    ("expected", "walked"),
    [
        (["checks"], ["checks", "checks/fix", "checks"]),
        (["checks", "checks/fix", "checks"], ["checks", "checks/fix", "checks"]),
        (["review", "explain"], ["review@1/reviewer", "review@1/fixer", "review@2/reviewer", "explain"]),
        (["build[x]", "build[y]"], ["build[x]/do", "build[x]/test", "build[y]/do"]),
        (["build"], ["build[x]/do", "build[y]/do"]),
        (["loop/a", "loop/a"], ["loop@1/a", "loop@2/a"]),
        (["write", "look", "write", "look"], ["write", "look", "write", "look"]),
    ],
)
def test_a_step_takes_its_parts_along(expected: list[str], walked: list[str]) -> None:
    assert is_expected_path(expected, walked)


@pytest.mark.parametrize(
    ("expected", "walked"),
    [
        (["loop/a"], ["loop@1/a", "loop@2/a"]),
        (["a"], ["a", "a"]),
        (["build[x]"], ["build[x]/do", "build[y]/do"]),
        (["a", "b"], ["b", "a"]),
        (["a"], []),
    ],
)
def test_another_way_does_not_fit(expected: list[str], walked: list[str]) -> None:
    assert not is_expected_path(expected, walked)


def test_the_difference_speaks_in_the_words_of_the_test() -> None:
    walked = ["split", "build[x]/do", "build[x]/test", "build[y]/do", "pr"]
    assert difference(["split", "agree", "build", "pr"], walked) == [
        (" ", "split"),
        ("-", "agree"),
        (" ", "build"),
        (" ", "pr"),
    ]


def test_a_key_without_round_and_item_means_all_of_them() -> None:
    assert is_same_step("review/reviewer", "review@3/reviewer")
    assert is_same_step("build[*]/do", "build[x]/do")
    assert not is_same_step("build", "build[x]/do")
    assert is_within_step("build", "build[x]/do")
    assert not is_within_step("bui", "build[x]/do")
