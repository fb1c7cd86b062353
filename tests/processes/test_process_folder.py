"""A process knows whether it was called inside a command of a run, by what the processes above it write to or carry."""

from pathlib import Path

import pytest

from handrail.ports.processes import MARK, mark_of
from handrail.processes.process_folder import CallerProcess, EnclosingStep, find_inside

INSIDE = EnclosingStep("fix-1", 7)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data" / "runs" / "fix-1" / "7" / "agent.0").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "data")
    return tmp_path / "data"


def writes(*paths: Path | str) -> CallerProcess:
    return CallerProcess({}, tuple(map(str, paths)))


def carries(mark: str) -> CallerProcess:
    return CallerProcess({MARK: mark}, ())


def test_a_keeper_writes_to_files_of_its_folder(data: Path) -> None:
    place = data / "runs" / "fix-1" / "7" / "agent.0"
    assert find_inside(data, [writes("pipe:[1]"), writes(place / "stdout", place / "stderr")]) == INSIDE
    assert find_inside(data, [writes(f"{place}/stdout (deleted)")]) == INSIDE
    assert find_inside(data, [writes("/dev/null", place / "stderr")]) == INSIDE


def test_a_mark_tells_where_no_keeper_is_seen(data: Path) -> None:
    place = str(data / "runs" / "fix-1" / "7" / "agent.0")
    assert find_inside(data, [carries(mark_of("fix-1:7:agent.0", place))]) == INSIDE


def test_the_data_folder_may_be_named_by_a_link(data: Path) -> None:
    link = data.parent / "link"
    place = link / "runs" / "fix-1" / "7" / "agent.0"
    assert find_inside(data, [carries(mark_of("fix-1:7:agent.0", str(place)))]) == INSIDE
    assert find_inside(link, [writes(place.resolve() / "stdout")]) == INSIDE


def test_the_nearest_one_counts(data: Path) -> None:
    inner, outer = (data / "runs" / run / "3" / "0.0" / "stdout" for run in ("inner-1", "outer-1"))
    assert find_inside(data, [writes(inner), writes(outer)]) == EnclosingStep("inner-1", 3)


def test_set_up_and_trials_belong_to_no_step(data: Path) -> None:
    assert find_inside(data, [writes(data / "runs" / "fix-1" / "setup-1" / "0.0" / "stdout")]) == EnclosingStep(
        "fix-1", 0
    )
    assert find_inside(data, [writes(data / "trials" / "try-1" / "0.0" / "stdout")]) == EnclosingStep("try-1", 0)


@pytest.mark.parametrize("other", ["", "x", "fix-1:7:agent.0@", "fix-1:7:agent.0@/elsewhere/runs/fix-1/7/agent.0"])
def test_other_marks_are_none_of_ours(data: Path, other: str) -> None:
    assert find_inside(data, [carries(other)]) is None


def test_other_files_are_none_of_ours(data: Path) -> None:
    files = (data / "driver.log", data / "runs" / "x", data.parent / "runs" / "fix-1" / "7" / "a.0" / "stdout")
    assert find_inside(data, [writes(each) for each in files]) is None
    assert find_inside(data, []) is None
