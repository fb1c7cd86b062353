"""`init` and `fix-bug` in small repositories of several languages, with their real tools and a scripted agent."""

import json
import tomllib
from pathlib import Path

import pytest

from support.cli.languages import GO, NODE, PYTHON, RUST, Language, play, room_of


@pytest.mark.parametrize(
    "language",
    [
        pytest.param(PYTHON, marks=pytest.mark.system, id="python"),
        pytest.param(GO, marks=pytest.mark.system("go"), id="go"),
        pytest.param(NODE, marks=pytest.mark.system("node"), id="node"),
        pytest.param(RUST, marks=pytest.mark.system("cargo"), id="rust"),
    ],
)
def test_a_bug_is_reproduced_and_fixed_with_the_tools_of_the_language(tmp_path: Path, language: Language) -> None:
    room = room_of(tmp_path, language)
    done = room.handrail("init", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    config = tomllib.loads((room.root / ".handrail" / "config.toml").read_text())
    assert config["project"]["default_branch"] == "trunk"
    assert config["checks"]["test_one"]["command"]
    assert set(language.checks) <= set(config["checks"])
    room.git("add", "-A")
    room.git("commit", "-qm", "Handrail")
    script = play(language, tmp_path)
    run = room.handrail("run", "fix-bug", "adding -2 adds 2", "--agent", "scripted", "--script", str(script), "--json")
    document = json.loads(run.stdout)
    assert run.returncode in (0, 3), run.stdout + run.stderr
    steps = {each["address"]: each for each in document["steps"]}
    assert (steps["reproduce"]["status"], steps["reproduce"]["attempts"]) == ("succeeded", 3), document
    assert [steps[name]["status"] for name in ("fix", "checks")] == ["succeeded", "succeeded"], document
    # Opening the pull request is all that may be left to do.
    assert run.returncode == 0 or document["current_step"] == "pr", document
    why = room.handrail("show", "fix-bug-1", "reproduce@1").stdout
    assert "proves nothing" in why, why
