"""A handoff is bounded, keeps what is newest, and no content ends its block."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handrail.engine.prompts.handoff import handoff
from handrail.model.history.run_state import RunState, StepState
from handrail.model.workflow.settings import Handoff
from handrail.model.workflow.values import JsonValue
from support.engine.handed_runs import LIMITS, bug, run_of, steps_of


def test_many_steps_are_counted_and_the_newest_listed() -> None:
    steps = {f"s{number}": StepState("succeeded", output=f"out {number}") for number in range(10_000)}
    text = handoff(run_of(steps), "summary")
    lines = steps_of(text).splitlines()
    assert len(lines) == 30
    assert lines[0] == "9971. s9970: done - out 9970"
    assert lines[-1] == "10000. s9999: done - out 9999"
    assert "(9970 earlier steps left out.)" in text


def test_a_long_output_says_how_much_is_left_out_and_where_all_of_it_is() -> None:
    state = run_of({"a": StepState("succeeded", output="x" * 5_000)}, {"big": "x" * 5_000})
    note = "(3500 of the 5000 characters of `big` are left out; `handoff: full` gives them.)"
    assert note in handoff(state, "summary")
    assert "x" * 5_000 in handoff(state, "full")
    assert "left out" not in handoff(state, "full")


def test_where_not_all_outputs_fit_the_newest_are_kept() -> None:
    sizes = {"old": 30_000, "middle": 30_000, "new": 20_000}
    names: dict[str, JsonValue] = {name: name[0] * size for name, size in sizes.items()}
    steps = {f"make-{name}": StepState("succeeded", output=value) for name, value in names.items()}
    text = handoff(run_of(steps, names), "full")
    assert "n" * 20_000 in text
    assert re.search(
        r"\(\d+ of the 30000 characters of `middle` are left out\.\)\n\(Older outputs left out: `old`\.\)", text
    )
    assert text.index('of="middle"') < text.index('of="new"')


def test_outputs_that_no_listed_step_made_count_as_the_oldest() -> None:
    steps = {"a": StepState("succeeded", output="a")}
    text = handoff(run_of(steps, {"a": "a", "lost": "l"}), "summary")
    assert text.index('of="lost"') < text.index('of="a"')


def test_many_small_outputs_are_bounded_too() -> None:
    names: dict[str, JsonValue] = {f"n{number}": "x" for number in range(5_000)}
    text = handoff(run_of({}, names), "full")
    assert len(text) < LIMITS["full"]
    assert re.search(r"\(Older outputs left out: (`n\d+`, ){9}`n\d+` and \d+ more\.\)", text)


def test_artifacts_are_listed_once_and_the_newest_kept() -> None:
    files: list[JsonValue] = [{"file": f"src/{number}.py", "line": 1} for number in range(100)]
    steps = {
        "split": StepState("succeeded", output={"report_path": "a.md", "path": 7, "url": "https://x.test/1"}),
        "review": StepState("succeeded", output={"findings": files, "issues": [12, True], "commit": "two\nlines"}),
        "merge": StepState("succeeded", commit="abc", branch="work/x", output={"files": ["src/1.py", "src/1.py"]}),
    }
    found = re.search(r'of="artifacts">\n(.*?)\n</data-', handoff(run_of(steps), "summary"), re.DOTALL)
    assert found is not None
    lines = found[1].splitlines()
    assert len(lines) == 40
    assert lines[-3:] == ["path: src/1.py", "branch: work/x (merge)", "commit: abc (merge)"]
    assert "issue: 12" in lines
    assert "issue: True" not in lines


WORDS = st.lists(
    st.sampled_from(["</data-", ">", "\n", "`", "# Your task", "\ud800", "\x00", "0123456789ab", '"'])
    | st.text(max_size=8),
    max_size=12,
).map("".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS | st.integers(1, 70_000).map(lambda size: "w" * size),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.sampled_from(["file", "url"]), inner, max_size=3)
    ),
    max_leaves=6,
)
STEPS = st.builds(
    StepState,
    st.sampled_from(["succeeded", "failed", "skipped", "passed_over", "running"]),
    output=VALUES,
    error=WORDS,
    summary=WORDS,
    commit=st.sampled_from(["", "abc"]),
)
ADDRESSES = st.tuples(st.sampled_from("abc"), WORDS).map(lambda each: f"{each[0]}[{each[1]}]/x") | st.sampled_from(
    ["a", "b@1/c"]
)
RUNS = st.tuples(
    st.dictionaries(ADDRESSES, STEPS, max_size=6),
    st.dictionaries(st.sampled_from(["repro", "tasks", "built"]), VALUES),
    WORDS,
).map(lambda each: run_of(each[0], each[1], task=each[2]))


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(RUNS, st.sampled_from(["summary", "full"]))
def test_no_content_ends_a_block_and_every_handoff_is_bounded_and_the_same_each_time(
    state: RunState, mode: Handoff
) -> None:
    text = handoff(state, mode)
    assert text == handoff(state, mode)
    assert len(text.encode()) >= len(text)
    assert len(text) <= LIMITS[mode]
    marks = set(re.findall(r"`<data-([0-9a-f]{12})>` and `</data-\1>`", text))
    if text:
        (mark,) = marks
        form = rf'^(`{{3,}})\n<data-{mark} of="[\w ]+">\n.*?\n</data-{mark}>\n\1$'
        inside = re.sub(form, "", text, flags=re.DOTALL | re.MULTILINE)
        assert inside.count(mark) == 2
        assert all(
            line == "" or line.startswith(("# The run so far", "This step", "Text between", "it is", "("))
            for line in inside.splitlines()
        )


@pytest.mark.parametrize("mode", ["summary", "full"])
def test_a_text_that_quotes_an_earlier_handoff_gets_other_tags(mode: Handoff) -> None:
    before = handoff(bug(), mode)
    after = handoff(run_of({"a": StepState("succeeded", output=before)}, {"quoted": before}), mode)
    opened = re.search(r"<data-([0-9a-f]{12}) of", after)
    assert opened is not None
    assert opened[1] not in before
