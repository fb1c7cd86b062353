"""A run that somebody else drives can be followed from the outside, until it ends or needs a person."""

import subprocess
from pathlib import Path

import pytest

from support.security.black_box import PATIENCE, PROGRAM, BlackBox, make_black_box

pytestmark = pytest.mark.system  # takes long: many processes of its own

WAITS = """\
name: waits
steps:
  - {name: hold, command: 'while [ ! -e GO ]; do sleep 0.05; done', timeout: 2m}
  - {name: long, command: 'echo LONG'}
LAST
"""
ASKS = "  - {name: ask, type: approval, message: Go on?}"
PROMPTED = "name: prompted\nsteps:\n  - {name: coding, agent: scripted, prompt: coding}\n"


@pytest.fixture
def box(tmp_path: Path) -> BlackBox:
    return make_black_box(tmp_path)


@pytest.mark.parametrize(("last", "code", "kind"), [("", 0, "run_ended"), (ASKS, 3, "approval_requested")])
def test_following_ends_with_the_run_or_when_it_needs_somebody(box: BlackBox, last: str, code: int, kind: str) -> None:
    go = box.base / "go"
    text = WAITS.replace("GO", str(go)).replace("LONG", "x" * 300).replace("LAST", last)
    box.write_own("workflows/waits/workflow.yaml", text)
    assert box.call("run", "waits", "--detach").exit_code == 0
    with subprocess.Popen(
        [PROGRAM, "logs", "waits-1", "-f"], cwd=box.repository, env=box.env, stdout=subprocess.PIPE, text=True
    ) as following:
        assert following.stdout is not None
        first = following.stdout.readline()
        go.touch()
        rest = following.stdout.read()
        assert following.wait(PATIENCE) == code
    assert "run_started" in first
    assert kind in rest.splitlines()[-1]
    assert "…" not in first + rest


def test_the_last_events_alone_can_be_shown(box: BlackBox) -> None:
    box.write_own("workflows/quick/workflow.yaml", "name: quick\nsteps:\n  - {name: one, command: 'true'}\n")
    assert box.call("run", "quick").exit_code == 0
    everything = box.call("logs", "quick-1").out.splitlines()
    assert box.call("logs", "quick-1", "--tail", "2").out.splitlines() == everything[-2:]
    assert box.call("logs", "quick-1", "--tail", "0").out == ""
    assert box.call("logs", "quick-1", "--tail", "99").out.splitlines() == everything


def test_a_changed_prompt_of_a_trusted_repository_is_used_without_a_question_and_named_by_its_whole_path(
    box: BlackBox,
) -> None:
    box.write_own("config.toml", f'[trust]\nrepositories = ["{box.repository}"]\n')
    box.write(".handrail/workflows/prompted/workflow.yaml", PROMPTED)
    script = box.write("play.yaml", "default: {say: done}\n")
    for number, text in enumerate(("Paint it red.", "Paint it blue."), 1):
        prompt = box.write(".handrail/workflows/prompted/prompts/10-coding.md", text + "\n")
        box.commit()
        assert box.call("run", "prompted", "--script", str(script)).exit_code == 0
        assert text in box.call("show", f"prompted-{number}", "coding", "--prompt").out
        logs = box.call("logs", f"prompted-{number}").out
        assert "Loading subroutine: coding\n" in logs
        assert f"Prompt path: {prompt}\n" in logs


def test_logs_show_and_why_name_the_prompt_file_of_an_agent(box: BlackBox) -> None:
    box.write_own("workflows/prompted/workflow.yaml", PROMPTED)
    prompt = box.write_own("workflows/prompted/prompts/10-coding.md", "<!-- version: 2 -->\nDo the work now.\n")
    script = box.write("play.yaml", "default: {say: done}\n")
    box.commit()
    assert box.call("run", "prompted", "--script", str(script)).exit_code == 0
    logs = box.call("logs", "prompted-1").out
    assert "Loading subroutine: coding\n" in logs
    assert f"Prompt path: {prompt} (2)\n" in logs
    step = box.call("show", "prompted-1", "coding", "--json").document["steps"][0]
    assert step["prompt"] == {"file": str(prompt), "version": "2"}
    assert str(prompt) in box.call("show", "prompted-1", "coding").out
    assert f"prompt {prompt} (2)" in box.call("why", "prompted-1", "coding").out
