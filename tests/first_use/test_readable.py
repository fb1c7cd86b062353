"""What a run was given, gave and says in the end is shown so that a person can read it."""

from pathlib import Path

import pytest

from support.security.black_box import BlackBox, make_black_box

pytestmark = pytest.mark.system  # takes long: many processes of its own

ENDS = "name: ends\nsteps:\n  - {name: end, type: end, message: All is well.}\n"
GIVES = """\
name: gives
steps:
  - name: count
    command: 'echo "{\\"a\\":1,\\"b\\":[2,3]}"'
    returns: {a: int, b: [int]}
    output: counted
"""


@pytest.fixture
def box(tmp_path: Path) -> BlackBox:
    return make_black_box(tmp_path)


def test_the_message_of_an_end_is_shown_by_run_show_and_status(box: BlackBox) -> None:
    box.write_own(
        "workflows/ends/workflow.yaml", "name: ends\nsteps:\n  - {name: end, type: end, message: All is well.}\n"
    )
    ran = box.call("run", "ends")
    assert ran.exit_code == 0
    assert "All is well." in ran.out
    assert "All is well." in box.call("show", "ends-1").out
    assert "All is well." in box.call("status", "ends-1").out
    assert box.call("show", "ends-1", "--json").document["message"] == "All is well."


def test_values_with_parts_are_shown_in_lines_and_times_by_the_clock_of_the_person(box: BlackBox) -> None:
    box.write_own("workflows/gives/workflow.yaml", GIVES)
    assert box.call("run", "gives").exit_code == 0
    shown = box.call("show", "gives-1", TZ="Asia/Tokyo")
    assert "output     counted\n    a: 1\n    b:\n      - 2\n      - 3\n" in shown.out
    document = box.call("show", "gives-1", "--json").document
    assert document["started_at"].endswith("Z")
    assert "T" not in shown.out.split("started    ")[1].splitlines()[0]
