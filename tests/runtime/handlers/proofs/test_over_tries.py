"""What a step must leave alone is judged over all its tries: a later try answers for what the earlier ones left."""

from pathlib import Path
from typing import Any

import pytest

from support.runtime.steps_room import StepsRoom

BENT: dict[str, Any] = {"files": {"README.md": "bent\n"}}
MENDED: dict[str, Any] = {"files": {"README.md": "hello\n", "new.txt": "new\n"}}
IDLE: dict[str, Any] = {"say": "It is done."}


def case(rest: str) -> str:
    steps = f"  - name: fix\n    prompt: Fix it now.\n    done_when: [{{unchanged: README.md}}]\n{rest}"
    return f"name: case\nsteps:\n{steps}"


def test_a_file_that_a_try_has_bent_is_still_bent_in_the_next(shop: StepsRoom) -> None:
    state = shop.run(case("    retry: 1\n"), {"fix": [BENT, IDLE]})
    assert (state.status, state.message) == ("blocked", "step 'fix' failed: not proven: unchanged: README.md")


def test_a_try_that_puts_the_file_back_is_proven(shop: StepsRoom) -> None:
    state = shop.run(case("    retry: 1\n"), {"fix": [BENT, MENDED]})
    assert state.status == "succeeded"


def test_resuming_does_not_forgive_what_was_bent(shop: StepsRoom) -> None:
    run = shop.run(case(""), {"fix": [BENT, IDLE, MENDED]}).run
    assert shop.resume(run).status == "blocked"
    assert shop.resume(run).status == "succeeded"


@pytest.mark.parametrize("hindered", [{"fail": {"status": "overloaded", "retry_after": 0}}, {"fail": "crashed"}])
def test_a_call_that_was_cut_off_is_no_new_beginning(shop: StepsRoom, hindered: dict[str, Any]) -> None:
    state = shop.run(case("    retry: 1\n"), {"fix": [{**BENT, **hindered}, IDLE, IDLE]})
    assert state.status != "succeeded"


def test_undo_takes_back_what_all_tries_left(shop: StepsRoom) -> None:
    rest = "    retry: 1\n    on_fail: undo\n  - {name: last, command: 'cat README.md; ls', output: seen}\n"
    state = shop.run(case(rest), {"fix": [BENT, {"files": {"more.txt": "more\n"}}]})
    assert (state.status, state.names["seen"]) == ("succeeded", "hello\nREADME.md")


def test_work_that_is_sent_back_begins_anew(shop: StepsRoom) -> None:
    rest = "    on_fail: continue\n  - {name: ok, type: approval, revise: fix}\n"
    run = shop.run(case(rest), {"fix": [BENT, IDLE]}).run
    state = shop.answer(run, "revise", "leave it so")
    assert (state.status, state.reason, state.steps["fix"].status) == ("waiting", "approval", "succeeded")


def test_a_proof_whose_program_is_missing_is_tried_again_without_another_call(shop: StepsRoom) -> None:
    text = (
        "name: case\nsteps:\n  - name: fix\n    prompt: Fix it now.\n    retry: 2\n    done_when: [{passes: ./tool}]\n"
    )
    state = shop.run(text, {"fix": [MENDED]})
    assert (state.status, state.reason) == ("blocked", "fault")
    assert "a program of `./tool` was not found (exit 127)" in state.message
    tool = Path(state.workspace) / "tool"
    tool.write_text("#!/bin/sh\nexit 0\n")
    tool.chmod(0o755)
    state = shop.resume(state.run)
    assert (state.status, state.spent.agent_calls, state.steps["fix"].attempts) == ("succeeded", 1, 1)
