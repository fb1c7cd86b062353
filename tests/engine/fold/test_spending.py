"""What a step took is counted the same whether its performer tells it or the events do."""

from dataclasses import replace

from handrail.engine.fold.apply import apply
from handrail.model.history.events import Event, RunStarted, StepBegan, StepEnded
from handrail.model.history.run_state import RunState

STARTED = RunStarted(run="r", workflow="w", definition="d", plan="p", inputs={}, workspace="/", at=1.0)
BEGAN = StepBegan(address="a", action="script", attempt=1, spec={"commands": []}, at=2.0)
ENDED = StepEnded(address="a", began=2, status="succeeded", output="x", exit_code=0, stdout="x\n", at=4.5)


def _no_blobs(_: str) -> bytes:
    raise AssertionError


def _folded(*events: Event) -> RunState:
    state: RunState | None = None
    for seq, event in enumerate(events, start=1):
        state = apply(state, event, seq, _no_blobs)
    assert state is not None
    return state


def test_a_step_that_tells_nothing_took_the_time_between_its_events() -> None:
    state = _folded(STARTED, BEGAN, ENDED)
    assert (state.steps["a"].seconds, state.spent.seconds) == (2.5, 2.5)


def test_the_outcome_is_the_same_whether_the_time_is_told_or_not() -> None:
    told = replace(ENDED, details={"spent": {"seconds": 2.5}})
    assert _folded(STARTED, BEGAN, told).steps["a"] == _folded(STARTED, BEGAN, ENDED).steps["a"]


def test_what_takes_no_time_changes_no_sum() -> None:
    before = _folded(STARTED, BEGAN)
    after = _folded(STARTED, BEGAN, replace(ENDED, at=2.0))
    assert after.spent is before.spent
    assert after.steps["a"].seconds == 0.0
