"""A run is recorded with the scripted agent and played again from its cassette: the same steps, outputs and files."""

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from handrail.agents.played.files import read_cassette
from handrail.cli.main import cli

WORKFLOW = """\
name: build
input:
  what: string
steps:
  - name: work
    prompt: |
      Build it.
      It is {{ what }}.
    output: made
  - name: check
    prompt: "Look at {{ made }}."
    access: read
    returns: {good: bool}
    output: verdict
  - name: tell
    command: 'echo "${verdict.good}"'
"""
SCRIPT = """\
work:
  - say: made a shed
    files:
      shed.txt: "wood\\n"
      sub/picture.bin: {base64: AP8QgA==}
      README.md: null
    usage: {input_tokens: 10, output_tokens: 5, cost: 0.25}
check:
  - output: {good: true}
"""


class House:
    """A repository and calls of the command line in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.repo = root / "repo"

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=self.repo, capture_output=True, text=True, check=True, timeout=60)
        return done.stdout.strip()

    def call(self, *words: str, code: int = 0) -> Result:
        done = CliRunner().invoke(cli, words, env={"HANDRAIL_HOME": str(self.home), "NO_COLOR": "1"})
        assert done.exit_code == code, done.output
        return done

    def record(self) -> Path:
        self.call("run", "build", "--input", "what=red", "--script", "script.yaml", "--record", "tape.jsonl")
        return self.repo / "tape.jsonl"

    def replay(self, what: str = "red", *more: str, code: int = 0) -> Result:
        words = ("--input", f"what={what}", "--agent", "cassette", "--script", "tape.jsonl")
        return self.call("run", "build", *words, *more, code=code)

    def steps(self, run: str) -> list[tuple[str, str, object]]:
        shown = json.loads(self.call("show", run, "--json").stdout)
        return [(step["address"], step["status"], step.get("output")) for step in shown["steps"]]

    def patch(self, run: str) -> str:
        return str(json.loads(self.call("diff", run, "--json").stdout)["diff"])


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    made = House(tmp_path)
    made.repo.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.chdir(made.repo)
    folder = made.repo / ".handrail/workflows/build"
    folder.mkdir(parents=True)
    (folder / "workflow.yaml").write_text(WORKFLOW, encoding="utf-8")
    (made.repo / "script.yaml").write_text(SCRIPT, encoding="utf-8")
    (made.repo / "README.md").write_text("read me\n", encoding="utf-8")
    made.git("init", "-q", "-b", "main")
    made.git("config", "user.name", "Ann")
    made.git("config", "user.email", "ann@example.org")
    made.git("add", "-A")
    made.git("commit", "-qm", "start")
    made.call("trust", "build", "--yes")
    return made


def test_a_replay_gives_the_same_steps_outputs_costs_and_files(house: House) -> None:
    tape = house.record()
    replayed = house.replay()
    assert "warning" not in replayed.output
    assert house.steps("build-2") == house.steps("build-1")
    assert house.patch("build-2") == house.patch("build-1") != ""
    (work, check) = read_cassette(str(tape)).calls
    assert (work.address, work.turn, work.agent, work.exit_code) == ("work", 1, "scripted", 0)
    assert "It is `red`." in work.prompt
    assert "shed.txt" in work.patch
    assert check.patch == ""


def test_a_prompt_that_differs_is_named_and_the_recorded_call_is_played(house: House) -> None:
    house.record()
    replayed = house.replay("blue")
    wanted = (
        "step 'work': the prompt differs from the recorded one at line 16: 'It is `red`.' before, 'It is `blue`.' now"
    )
    assert f"warning: {wanted}" in replayed.output
    assert house.steps("build-2") == house.steps("build-1")


def test_a_strict_replay_fails_where_a_prompt_differs(house: House) -> None:
    house.record()
    house.replay("red", "--strict")
    failed = house.replay("blue", "--strict", code=3)
    assert "the prompt differs from the recorded one at line 16" in failed.output


def test_changes_that_do_not_fit_fail_the_step(house: House) -> None:
    house.record()
    (house.repo / "shed.txt").write_text("stone\n", encoding="utf-8")
    house.git("add", "-A")
    house.git("commit", "-qm", "a shed of stone")
    failed = house.replay(code=3)
    assert "could not be replayed" in failed.output


def test_a_step_that_was_not_recorded_is_named(house: House) -> None:
    house.record()
    text = (house.repo / "tape.jsonl").read_text(encoding="utf-8").replace('"address": "check"', '"address": "chock"')
    (house.repo / "tape.jsonl").write_text(text, encoding="utf-8")
    done = CliRunner().invoke(
        cli,
        ("run", "build", "--input", "what=red", "--agent", "cassette", "--script", "tape.jsonl"),
        env={"HANDRAIL_HOME": str(house.home)},
    )
    assert done.exit_code != 0
    assert "the cassette has no call 1 of step 'check', only: work (call 1), chock (call 1)" in done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--record", "x.jsonl", "--detach"), "--record needs this process until the run ends"),
        (("--record", "x.jsonl", "--agent", "cassette"), "a replay records nothing new"),
        (("--record", "no/x.jsonl"), "there is no such folder"),
        (("--agent", "cassette"), "the cassette agent plays a cassette"),
        (("--agent", "cassette", "--script", "script.yaml"), "is not a JSON object"),
    ],
)
def test_what_cannot_be_recorded_or_replayed_is_refused_at_the_start(
    house: House, words: tuple[str, ...], said: str
) -> None:
    done = CliRunner().invoke(
        cli, ("run", "build", "--input", "what=red", *words), env={"HANDRAIL_HOME": str(house.home)}
    )
    assert done.exit_code != 0
    assert said in done.output
