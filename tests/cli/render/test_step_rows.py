"""The live lines: within their columns whatever happens, and what they leave out first."""

from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from handrail.cli.render.layout import flow, wrap_text
from handrail.cli.render.safe_text import escape_controls, width
from handrail.cli.render.step_rows import RowContext, format_elapsed, rows
from handrail.model.history.events import RetryScheduled, StepBegan, StepEnded
from handrail.model.workflow.plan import Plan
from handrail.operations.driving.drive import RunEvent
from handrail.operations.driving.live import Activity, StepActivity


def no_plan(_: str) -> Plan:
    raise AssertionError("no plan is needed here")


def at_work(*addresses: str, attempt: int = 1) -> Activity:
    """Give the activity of runs that are each at one step."""
    activity = Activity(no_plan)
    for number, address in enumerate(addresses):
        spec = {"agent": "claude", "model": "sonnet"}
        began = StepBegan(address=address, action="agent", attempt=attempt, spec=dict(spec), at=float(number))
        activity.see(RunEvent(f"r.{number}", 1, began))
    return activity


def drawn(activity: Activity, columns: int, glimpse: str = "Bash npx vitest run login") -> list[str]:
    """Give the live lines after 48 seconds, without colors."""

    def doing(_: StepActivity) -> str:
        return glimpse

    lines = rows(activity, doing, RowContext(48.0, columns, "$0.12 of $6.00"))
    return [line.replace("\x1b[2m", "").replace("\x1b[0m", "") for line in lines]


def test_one_step_is_one_line_that_leaves_out_what_has_no_room() -> None:
    lines = [drawn(at_work("reproduce", attempt=2), columns) for columns in (115, 79, 59, 39, 19, 9)]
    assert lines == snapshot(
        [
            [
                (
                    "▸ reproduce  claude/sonnet  try 2  0:48  $0.12 of $6.00"
                    "  Bash npx vitest run login   Ctrl-C pauses, nothing is lost"
                )
            ],
            ["▸ reproduce  claude/sonnet  try 2  0:48  $0.12 of $6.00  Bash npx vitest run l…"],
            ["▸ reproduce  claude/sonnet  try 2  0:48  $0.12 of $6.00"],
            ["▸ reproduce  try 2  0:48  Bash npx vit…"],
            ["▸ reproduce  0:48"],
            ["▸…  0:48"],
        ]
    )


def test_several_steps_have_a_line_each_up_to_a_handful_and_the_cost_below() -> None:
    assert drawn(at_work(*(f"build[{key}]/make" for key in "abcdefgh")), 79) == snapshot(
        [
            "▸ build[a]/make  claude/sonnet  0:48  Bash npx vitest run login",
            "▸ build[b]/make  claude/sonnet  0:47  Bash npx vitest run login",
            "▸ build[c]/make  claude/sonnet  0:46  Bash npx vitest run login",
            "▸ build[d]/make  claude/sonnet  0:45  Bash npx vitest run login",
            "▸ build[e]/make  claude/sonnet  0:44  Bash npx vitest run login",
            "  and 3 more · $0.12 of $6.00                    Ctrl-C pauses, nothing is lost",
        ]
    )


def test_a_step_that_ended_has_no_line_any_more() -> None:
    activity = at_work("one", "two")
    activity.see(RunEvent("r.0", 2, StepEnded(address="one", began=1, status="succeeded", at=3.0)))
    assert [each.address for each in activity.efforts] == ["two"]


def test_a_wait_is_a_line_until_it_is_over() -> None:
    activity = at_work("one")
    activity.see(RunEvent("r.0", 2, RetryScheduled(address="one", attempt=1, due=90.0, at=3.0, reason="quota")))
    assert (len(activity.efforts), [each.until for each in activity.breaks]) == (0, [90.0])
    again = StepBegan(address="one", action="agent", attempt=1, spec={}, at=91.0)
    activity.see(RunEvent("r.0", 3, again))
    assert (len(activity.efforts), len(activity.breaks)) == (1, 0)


def test_elapsed_times_count_like_a_clock() -> None:
    assert [format_elapsed(each) for each in (-3, 0.9, 48, 723, 3900)] == ["0:00", "0:00", "0:48", "12:03", "1:05:00"]


@given(st.text(min_size=1, max_size=60), st.text(max_size=200), st.integers(1, 200), st.integers(1, 7))
def test_no_live_line_is_wider_than_its_columns(address: str, glimpse: str, columns: int, count: int) -> None:
    for line in drawn(at_work(*[address] * count), columns, glimpse):
        assert width(line) <= columns
        assert "\n" not in line


@given(st.text(max_size=300).map(escape_controls), st.integers(20, 120))
def test_wrapped_prose_fits_and_loses_nothing_but_blanks(text: str, most: int) -> None:
    lines = wrap_text(text, most, first="  ", later="    ")
    assert all(width(line) <= most for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(st.lists(st.text(min_size=1, max_size=80).map(escape_controls), min_size=1), st.integers(20, 120))
def test_parts_that_flow_fit_except_a_first_one_that_is_too_long(parts: list[str], most: int) -> None:
    first, *later = flow(parts, most)
    assert width(first) <= max(most, width(parts[0]))
    assert all(width(line) <= most for line in later)
