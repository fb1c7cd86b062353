"""The real Gemini CLI and opencode, connected by `handrail connect`: they list the server and the skill."""

import os
import subprocess
from pathlib import Path

import pytest

from handrail.operations.connect.clients import handrail_program
from support.system_tools import NPM

LONG = 120
SKILL = "Walk a Handrail workflow with its MCP tools"
LISTS = {"gemini": ("skills", "list"), "opencode": ("debug", "skill")}
"""What each is asked for the skills that it found."""
AGENTS = [pytest.param(name, marks=pytest.mark.system(name)) for name in LISTS]


def said(home: Path, *words: str) -> str:
    """Call a program in a repository, with a home of its own and no way to the network."""
    work = home / "work"
    (work / ".git").mkdir(parents=True, exist_ok=True)
    nowhere = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
    path = os.pathsep.join((os.environ.get(NPM, ""), os.environ["PATH"]))
    offline = {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1", "GEMINI_API_KEY": "none"}
    environ = {"PATH": path, "HOME": str(home), "HANDRAIL_HOME": str(home / "handrail"), **nowhere, **offline}
    done = subprocess.run(
        words,
        cwd=work,
        env=environ,
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


@pytest.mark.parametrize("agent", AGENTS)
def test_it_lists_the_server_until_that_is_undone(agent: str, tmp_path: Path) -> None:
    assert "handrail mcp" not in said(tmp_path, agent, "mcp", "list")
    said(tmp_path, handrail_program(), "connect", agent, "--yes")
    listed = said(tmp_path, agent, "mcp", "list")
    assert f"{handrail_program()} mcp" in listed
    # Gemini CLI starts no server in a folder that nobody has told it to trust.
    assert "connected" in listed or agent == "gemini"
    said(tmp_path, handrail_program(), "connect", agent, "--undo")
    assert "handrail mcp" not in said(tmp_path, agent, "mcp", "list")


@pytest.mark.parametrize(
    ("agent", "scope"),
    [
        pytest.param("gemini", (), marks=pytest.mark.system("gemini")),
        # Gemini CLI reads no skills of a folder that nobody has told it to trust.
        pytest.param("opencode", (), marks=pytest.mark.system("opencode")),
        pytest.param("opencode", ("--project",), marks=pytest.mark.system("opencode")),
    ],
)
def test_it_finds_the_skill(agent: str, scope: tuple[str, ...], tmp_path: Path) -> None:
    assert SKILL not in said(tmp_path, agent, *LISTS[agent])
    said(tmp_path, handrail_program(), "connect", agent, "--skill", *scope, "--yes")
    assert SKILL in said(tmp_path, agent, *LISTS[agent])
