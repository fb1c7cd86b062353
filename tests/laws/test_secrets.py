"""Secrets of many kinds, in environment, inputs and output: none is found in what a run keeps, tells or shows."""

import asyncio
import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from handrail.cli.main import cli
from handrail.model.secrets.redaction import Redactor
from handrail.ports.processes import Ended, Gone, ProcessSpec
from handrail.processes.local import LocalProcesses
from handrail.processes.mask_output import BLOCK, MaskedFile
from handrail.processes.secret_forms import FORMS
from handrail.runtime.run_writer import encode_message
from support.compiler.secret_samples import NEEDLES, SAMPLES

WORKFLOW = """\
name: leak
input:
  what: string
steps:
  - name: work
    prompt: "Do {{ what }}."
    output: done
  - name: again
    prompt: "You said {{ done }} and {{ what }}."
  - name: known
    command: 'env | grep -A9 "^SAMPLE_"; env | grep -A9 "^SAMPLE_" >&2; true'
    output: printed
  - name: split
    command: |
      for name in $(env | grep -o "^PLAIN_[A-Z_]*"); do
        eval "code=\\$$name"
        printf "%s" "$code" | base64 -d | head -c 9
        sleep 0.05
        printf "%s" "$code" | base64 -d | tail -c +10
        echo
      done
  - name: fails
    command: 'printf "%s" "$PLAIN_GITHUB" | base64 -d >&2; exit 3'
"""
SCRIPT = """\
work:
  - run:
      - 'env | grep -A9 "^SAMPLE_"'
      - 'printf "%s" "$PLAIN_GITLAB" | base64 -d | tee leaked.txt'
      - 'for each in $(env | grep "^PLAIN_" | cut -d= -f2-); do printf "%s" "$each" | base64 -d; echo; done'
    say: done
again:
  - {say: again}
"""


class Leaks:
    """A repository in whose environment secrets of all kinds stand."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.repo = root / "repo"
        self.printed = b""

    def call(self, *words: str) -> Result:
        done = CliRunner().invoke(cli, words, env={"HANDRAIL_HOME": str(self.home), "NO_COLOR": "1"})
        self.printed += done.output.encode("utf-8", "replace")
        return done

    def kept(self) -> Iterator[tuple[str, bytes]]:
        """All that is kept, beside the work trees themselves."""
        for path in self.home.rglob("*"):
            if path.is_file() and "worktrees" not in path.parts:
                yield str(path), path.read_bytes()


@pytest.fixture
def leaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Leaks:
    made = Leaks(tmp_path)
    folder = made.repo / ".handrail/workflows/leak"
    folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("HANDRAIL_PASS_ENV", "SAMPLE_*,PLAIN_*")
    for name, value in SAMPLES.items():
        word = name.upper().replace("-", "_")
        monkeypatch.setenv(f"SAMPLE_{word}_TOKEN", value)
        monkeypatch.setenv(f"PLAIN_{word}", base64.b64encode(value.encode()).decode())
    monkeypatch.chdir(made.repo)
    (folder / "workflow.yaml").write_text(WORKFLOW, encoding="utf-8")
    (made.repo / "script.yaml").write_text(SCRIPT, encoding="utf-8")
    for words in (("init", "-q", "-b", "main"), ("config", "user.name", "Ann"), ("config", "user.email", "a@b.c")):
        subprocess.run(["git", *words], check=True, timeout=60)
    subprocess.run(["git", "add", "-A"], check=True, timeout=60)
    subprocess.run(["git", "commit", "-qm", "start"], check=True, timeout=60)
    assert made.call("trust", "leak", "--yes").exit_code == 0
    return made


def _needle(data: bytes) -> bytes | None:
    return next((needle for needle in NEEDLES if needle in data), None)


@pytest.mark.parametrize("known", [True, False])
def test_no_secret_reaches_transcript_log_export_cassette_or_terminal(
    leaks: Leaks, monkeypatch: pytest.MonkeyPatch, *, known: bool
) -> None:
    # Without the variables that hold them, they are known by their look alone.
    for name in [name for name in os.environ if name.startswith("SAMPLE_") and not known]:
        monkeypatch.delenv(name)
    what = "use ghp" + "_" + "Zz1" * 12
    words = ("run", "leak", "--input", f"what={what}", "--script", "script.yaml", "--record", "tape.jsonl")
    done = leaks.call(*words)
    assert done.exit_code == 1, done.output
    for command in ("show", "logs", "why", "diff", "status"):
        assert leaks.call(command, "leak-1").exit_code in (0, 1, 3)
        leaks.call(command, "leak-1", "--json")
    assert leaks.call("export", "leak-1", "--output", "out.json").exit_code == 0
    bundle = json.loads((leaks.repo / "out.json").read_bytes())
    texts = [*leaks.kept(), ("terminal", leaks.printed), ("export", json.dumps(bundle).encode())]
    texts += [(digest, base64.b64decode(blob)) for digest, blob in bundle["blobs"].items()]
    texts.append(("cassette", (leaks.repo / "tape.jsonl").read_bytes()))
    found = [(where, needle) for where, data in texts if (needle := _needle(data) or (b"Zz1Zz1" in data))]
    assert found == []
    transcripts = [data for where, data in leaks.kept() if where.endswith("stdout")]
    label = b"[secret:SAMPLE_GITHUB_TOKEN" if known else b"[secret:github-token"
    assert any(label in data for data in transcripts)


def test_an_input_that_holds_the_value_of_a_secret_variable_is_refused_by_its_name(leaks: Leaks) -> None:
    done = leaks.call("run", "leak", "--input", f"what=use {SAMPLES['github']}", "--script", "script.yaml")
    assert done.exit_code == 2
    assert "the input 'what' contains the value of SAMPLE_GITHUB_TOKEN, which is a secret" in done.output


def test_a_workflow_that_holds_a_secret_is_refused(leaks: Leaks) -> None:
    path = leaks.repo / ".handrail/workflows/leak/workflow.yaml"
    path.write_text(WORKFLOW.replace("Do {{", "Use npm" + "_" + "Zz1" * 12 + " for {{"), encoding="utf-8")
    assert leaks.call("trust", "leak", "--yes").exit_code == 0
    done = leaks.call("run", "leak", "--input", "what=it", "--script", "script.yaml")
    assert done.exit_code == 2
    assert "the workflow 'leak' contains a secret (npm-token)" in done.output


def test_what_a_person_says_to_a_run_is_masked_before_it_is_sent() -> None:
    said = json.loads(
        encode_message(Redactor({}, FORMS), "say", asked=1, by="person:ann", answer=f"use {SAMPLES['stripe']}")
    )
    assert _needle(said["answer"].encode()) is None


def _ended(folder: Path, script: str) -> Ended | Gone:
    processes = LocalProcesses()
    env = (("PATH", os.environ["PATH"]), ("MY_TOKEN", "hunter2-hunter2"))
    processes.start(ProcessSpec("a:1", (sys.executable, "-c", script), str(folder.parent), env, str(folder)))
    ended = asyncio.run(processes.wait(str(folder), 60))
    assert isinstance(ended, Ended | Gone)
    return ended


def test_a_secret_is_masked_in_the_file_when_the_command_has_ended_and_sizes_stay(tmp_path: Path) -> None:
    script = (
        "import os,sys,time\nw=os.write\nw(1,b'a hunter2-');time.sleep(.3);w(1,b'hunter2');w(2,b'hunter2-hunter2\\n')"
    )
    ended = _ended(tmp_path / "one", script)
    assert (tmp_path / "one" / "stdout").read_bytes() == b"a ***************"
    assert (tmp_path / "one" / "stderr").read_bytes() == b"***************\n"
    assert isinstance(ended, Ended)
    assert (ended.stdout_size, ended.stderr_size) == (17, 16)


def test_a_line_is_masked_while_its_command_runs_on(tmp_path: Path) -> None:
    script = (
        "import time,pathlib\nprint('hunter2-hunter2', flush=True)\nout=pathlib.Path('one/stdout')\n"
        "until=time.monotonic()+100\n"
        "while b'hunter' in out.read_bytes() and time.monotonic()<until: time.sleep(.01)\nprint('seen', flush=True)"
    )
    _ended(tmp_path / "one", script)
    assert (tmp_path / "one" / "stdout").read_bytes() == b"***************\nseen\n"


def test_what_a_killed_keeper_left_is_masked_when_it_is_read(tmp_path: Path) -> None:
    secret = SAMPLES["github"].encode()
    (tmp_path / "stdout").write_bytes(b"x" * 20_000 + b" " + secret + b" end\n")
    processes = LocalProcesses()
    for limit in (len(secret), 30, 12, 50_000):
        assert b"a1B2" not in processes.read_output(str(tmp_path), "stdout", limit, tail=True)
    assert processes.read_output(str(tmp_path), "stdout", 20_010, tail=False)[-9:] == b"[secret:g"


def test_what_the_keeper_did_not_know_for_a_secret_is_masked_when_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _ended(tmp_path / "one", "print('the word is open-sesame-1')")
    assert (tmp_path / "one" / "stdout").read_text() == "the word is open-sesame-1\n"
    monkeypatch.setenv("DOOR_TOKEN", "open-sesame-1")
    read = LocalProcesses().read_output(str(tmp_path / "one"), "stdout", 1000, tail=False)
    assert read == b"the word is *************\n"


def test_a_file_larger_than_a_block_is_masked_throughout(tmp_path: Path) -> None:
    secret = SAMPLES["github"].encode()
    path = tmp_path / "stdout"
    path.write_bytes((b"." * (BLOCK - 10) + b" " + secret + b" ") * 3)
    file = MaskedFile(path, Redactor({}, FORMS))
    file.look()
    file.look(last=True)
    data = path.read_bytes()
    assert b"a1B2" not in data
    assert len(data) == 3 * (BLOCK - 10 + 2 + len(secret))
