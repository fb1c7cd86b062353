"""Lines of the overview, from summaries alone."""

import time

from handrail.model.history.events import RunStarted
from handrail.model.history.run_lines import Filter, Row
from handrail.operations.views.overview import clock_words, find_limit, usd_words
from handrail.operations.views.run_listing import list_runs
from handrail.ports.log import Holder, Log
from handrail.store.memory.log import MemoryWorld
from handrail.wiring.system import make_writer


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


class CountedRuns:
    """The list of runs of a log, which counts how often it is read."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self.reads = 0

    def rows(self, wanted: Filter) -> tuple[Row, ...]:
        self.reads += 1
        return self._log.summaries(wanted)

    def count(self, wanted: Filter) -> int:
        return self._log.count(wanted)

    def holder(self, run: str) -> Holder | None:
        return self._log.holder(run)

    def content(self, digest: str) -> bytes | None:
        return self._log.get_blob(digest)


def _count_reads(runs: int) -> int:
    log = MemoryWorld().open()
    for number in range(runs):
        started = RunStarted(
            run=f"w-{number}", workflow="w", definition="", plan="", inputs={}, workspace="", at=number
        )
        make_writer(log).begin(f"w-{number}", started)
    counted = CountedRuns(log)
    assert len(list_runs(counted).lines) == runs
    return counted.reads


def test_a_list_of_many_runs_is_read_with_as_few_questions_as_a_short_one() -> None:
    assert _count_reads(30) == _count_reads(2)
