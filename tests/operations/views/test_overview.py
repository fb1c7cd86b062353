"""Lines of the overview, from summaries alone."""

import time

from handrail.operations.views.overview import clock_words, find_limit, usd_words


def test_a_plan_says_how_many_fixes_rounds_and_tries_a_step_has() -> None:
    inner = {"name": "t", "retry": {"more": 2}, "action": {"kind": "script"}}
    gate = {"name": "checks", "action": {"kind": "gate", "fix": {"max": 3}}}
    plan = {"steps": [{"name": "r", "action": {"kind": "loop", "max_iterations": 5, "steps": [inner]}}, gate]}
    assert find_limit(plan, "r@2/t", "try") == 3
    assert find_limit(plan, "r", "round") == 5
    assert find_limit(plan, "checks", "fix") == 3
    assert find_limit(plan, "checks", "try") is None
    assert find_limit(plan, "gone[x]/y", "try") is None
    assert find_limit({}, "r", "fix") is None


def test_a_time_of_another_day_is_said_with_the_day() -> None:
    now = time.time()
    assert clock_words(now) in {time.strftime("%H:%M", time.localtime(now)), time.strftime("%d %b %H:%M")}
    assert clock_words(0) == time.strftime("%d %b %H:%M", time.localtime(0))


def test_small_amounts_are_never_shown_as_nothing() -> None:
    assert [usd_words(each) for each in (0, 0.0031, 0.31)] == ["$0.00", "$0.0031", "$0.31"]
