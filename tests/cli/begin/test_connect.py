"""`handrail connect`: one insertion into an agent's configuration, shown first, and taken back to the byte."""

import json
import os
import subprocess
import tomllib
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from handrail.operations.connect.clients import handrail_program
from support.cli.shop import Shop

FILES = {
    "claude": (".claude.json", '{"numStartups": 3, "mcpServers": {}}'),
    "codex": (".codex/config.toml", '# mine\nmodel = "x"\n\n[projects."/a"]\ntrust_level = "trusted"'),
    "gemini": (".gemini/settings.json", '{\n  // a comment\n  "theme": "dark",\n}\n'),
    "opencode": (".config/opencode/opencode.jsonc", '{\n\t"mcp": {\n\t\t"other": {"enabled": false}, // off\n\t}\n}'),
    "cursor": (".cursor/mcp.json", '{"mcpServers":{"other":{"command":"x"}}}'),
    "vscode": (".config/Code/User/mcp.json", '\ufeff{\r\n  "inputs": []\r\n}\r\n'),
}
PROJECT = {
    "claude": (".mcp.json", "mcpServers"),
    "codex": (".codex/config.toml", "mcp_servers"),
    "gemini": (".gemini/settings.json", "mcpServers"),
    "opencode": ("opencode.json", "mcp"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "vscode": (".vscode/mcp.json", "servers"),
}
SKILLS = {
    "claude": (".claude/skills", ".claude/skills"),
    "codex": (".codex/skills", ".agents/skills"),
    "gemini": (".gemini/skills", ".gemini/skills"),
    "opencode": (".config/opencode/skills", ".opencode/skills"),
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of a person, without variables that lead elsewhere."""
    folder = tmp_path / "person"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


def every_file(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def write(home: Path, name: str, text: str) -> Path:
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("agent", FILES)
def test_what_is_written_once_is_taken_back_to_the_byte(agent: str, shop: Shop, home: Path) -> None:
    name, text = FILES[agent]
    path = write(home, name, text)
    path.chmod(0o600)
    before = every_file(home)
    assert shop.call("connect", agent, "--yes").exit_code == 0
    written = path.read_bytes()
    assert handrail_program().encode() in written
    assert path.stat().st_mode & 0o777 == 0o600
    again = shop.call("connect", agent, "--yes")
    assert again.exit_code == 0
    assert "is already set up: nothing to do" in again.output
    assert path.read_bytes() == written
    assert shop.call("connect", agent, "--undo").exit_code == 0
    assert every_file(home) == before
    assert "nothing to undo" in shop.call("connect", agent, "--undo").output


@pytest.mark.parametrize("agent", FILES)
def test_where_there_was_nothing_nothing_is_left(agent: str, shop: Shop, home: Path) -> None:
    assert shop.call("connect", agent, "--yes").exit_code == 0
    assert every_file(home) != {}
    assert shop.call("connect", agent, "--undo").exit_code == 0
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("agent", PROJECT)
def test_a_repository_gets_lines_that_hold_for_everybody(agent: str, shop: Shop, home: Path) -> None:
    name, table = PROJECT[agent]
    before = every_file(shop.root)
    assert shop.call("connect", agent, "--project", "--yes").exit_code == 0
    assert every_file(home) == {}
    text = (shop.root / name).read_text("utf-8")
    entry = (tomllib.loads(text) if name.endswith("toml") else json.loads(text))[table]["handrail"]
    words = entry["command"] if isinstance(entry["command"], list) else [entry["command"], *entry["args"]]
    assert words == ["handrail", "mcp"]
    assert "env" not in entry
    assert shop.call("connect", agent, "--project", "--undo").exit_code == 0
    assert every_file(shop.root) == before


def test_the_lines_are_shown_and_nothing_is_written_without_a_yes(shop: Shop, home: Path) -> None:
    said = shop.call("connect", "codex")
    assert said.exit_code == 0
    shown = (
        said.output.replace(str(home), "HOME").replace(handrail_program(), "PROGRAM").replace(str(shop.home), "DATA")
    )
    assert shown == snapshot("""\
Codex reads HOME/.codex/config.toml; these lines connect it:

  [mcp_servers.handrail]
  command = "PROGRAM"
  args = ["mcp"]
  env = { "HANDRAIL_HOME" = "DATA" }
  required = true
  startup_timeout_sec = 30
nothing was written; use --yes to write it
""")
    assert every_file(home) == {}


def test_programs_get_one_document(shop: Shop, home: Path) -> None:
    shown = json.loads(shop.call("connect", "cursor", "--json").output)
    assert (shown["state"], shown["changed"], shown["path"]) == ("absent", False, str(home / ".cursor/mcp.json"))
    assert json.loads(shown["lines"])["mcpServers"]["handrail"]["args"] == ["mcp"]
    done = json.loads(shop.call("connect", "cursor", "--json", "--yes").output)
    assert (done["state"], done["changed"], done["scope"], done["what"]) == ("present", True, "user", "server")
    gone = json.loads(shop.call("connect", "cursor", "--json", "--undo").output)
    assert (gone["state"], gone["changed"]) == ("absent", True)


@pytest.mark.parametrize(
    ("agent", "text"),
    [("claude", "{no json"), ("codex", "a = "), ("codex", 'mcp_servers = { x = { command = "y" } }'), ("cursor", "[]")],
)
def test_a_file_that_cannot_be_edited_stays_and_the_lines_are_said(
    agent: str, text: str, shop: Shop, home: Path
) -> None:
    path = write(home, FILES[agent][0], text)
    said = shop.call("connect", agent, "--yes")
    assert said.exit_code == 2
    assert path.read_text("utf-8") == text
    assert "add to it by hand" in said.output
    assert handrail_program() in said.output


def test_an_entry_of_somebody_else_is_neither_replaced_nor_taken_back(shop: Shop, home: Path) -> None:
    text = '{"mcpServers": {"handrail": {"command": "mine"}}}'
    path = write(home, ".claude.json", text)
    for words in (("--yes",), ("--undo",)):
        said = shop.call("connect", "claude", *words)
        assert said.exit_code == 2
        assert "not written by this command" in said.output
        assert path.read_text("utf-8") == text


def test_a_file_that_the_agent_wrote_anew_loses_the_entry_alone(shop: Shop, home: Path) -> None:
    path = write(home, ".claude.json", '{"numStartups":3}')
    assert shop.call("connect", "claude", "--yes").exit_code == 0
    anew = {**json.loads(path.read_text("utf-8")), "numStartups": 4}
    path.write_text(json.dumps(anew, separators=(",", ":")), "utf-8")
    assert shop.call("connect", "claude", "--undo").exit_code == 0
    assert json.loads(path.read_text("utf-8")) == {"numStartups": 4}


def test_an_entry_of_an_older_installation_is_brought_up_to_date(
    shop: Shop, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(home, ".claude.json", '{"a": 1}')
    monkeypatch.setattr("handrail.operations.connect.clients.handrail_program", lambda: "/old/handrail")
    assert shop.call("connect", "claude", "--yes").exit_code == 0
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(home))
    assert shop.call("connect", "claude", "--yes").exit_code == 0
    assert json.loads(path.read_text("utf-8"))["mcpServers"]["handrail"]["command"] == handrail_program()
    assert shop.call("connect", "claude", "--undo").exit_code == 0
    assert path.read_text("utf-8") == '{"a": 1}'


def test_variables_say_where_an_agent_keeps_its_files(shop: Shop, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, agent, file in (
        ("CLAUDE_CONFIG_DIR", "claude", ".claude.json"),
        ("CODEX_HOME", "codex", "config.toml"),
        ("XDG_CONFIG_HOME", "opencode", "opencode/opencode.json"),
    ):
        monkeypatch.setenv(name, str(home / agent))
        assert shop.call("connect", agent, "--yes").exit_code == 0
        assert (home / agent / file).is_file()


def test_a_link_of_the_person_stays_a_link_and_one_out_of_a_repository_is_refused(shop: Shop, home: Path) -> None:
    kept = write(home, "dotfiles/claude.json", "{}")
    (home / ".claude.json").symlink_to(kept)
    assert shop.call("connect", "claude", "--yes").exit_code == 0
    assert (home / ".claude.json").is_symlink()
    assert "handrail" in kept.read_text("utf-8")
    (shop.root / ".cursor").symlink_to(home / "dotfiles")
    said = shop.call("connect", "cursor", "--project", "--yes")
    assert said.exit_code == 2
    assert "is a link that leads to" in said.output


def test_an_agent_may_not_connect_itself(shop: Shop, home: Path) -> None:
    environ = {**os.environ, "CLAUDECODE": "1", "HANDRAIL_HOME": str(shop.home)}
    words = [handrail_program(), "connect", "claude", "--yes"]
    said = subprocess.run(words, cwd=shop.root, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert said.returncode == 3
    assert "`handrail connect` is reserved for people" in said.stderr
    assert every_file(home) == {}


@pytest.mark.parametrize("agent", SKILLS)
@pytest.mark.parametrize("project", [False, True])
def test_the_skill_goes_to_where_the_agent_looks(agent: str, project: bool, shop: Shop, home: Path) -> None:
    root = shop.root if project else home
    before = every_file(root)
    more = ("--project",) if project else ()
    assert shop.call("connect", agent, "--skill", *more, "--yes").exit_code == 0
    path = root / SKILLS[agent][project] / "handrail" / "SKILL.md"
    assert path.read_text("utf-8").startswith("---\nname: handrail\n")
    assert "nothing to do" in shop.call("connect", agent, "--skill", *more, "--yes").output
    assert shop.call("connect", agent, "--skill", *more, "--undo").exit_code == 0
    assert every_file(root) == before
    assert not path.parent.parent.exists()


def test_a_skill_that_was_changed_is_left_alone(shop: Shop, home: Path) -> None:
    folder = home / "skills"
    assert shop.call("connect", "--skill", str(folder), "--yes").exit_code == 0
    path = folder / "handrail" / "SKILL.md"
    path.write_text("mine now", "utf-8")
    said = shop.call("connect", "--skill", str(folder), "--undo")
    assert (said.exit_code, path.read_text("utf-8")) == (2, "mine now")


@pytest.mark.parametrize(
    "words", [("nobody",), (), ("--skill",), ("cursor", "--skill"), ("claude", "--skill", "x", "--nope")]
)
def test_what_cannot_be_meant_is_refused(words: tuple[str, ...], shop: Shop, home: Path) -> None:
    assert shop.call("connect", *words, "--yes").exit_code == 2
    assert every_file(home) == {}


def test_what_was_written_is_remembered_in_a_file_of_this_form(shop: Shop, home: Path) -> None:
    assert shop.call("connect", "cursor", "--yes").exit_code == 0
    kept = json.loads((shop.home / "data" / "connections.json").read_text("utf-8"))
    (path,) = kept["files"]
    assert (kept["version"], path) == (1, str(home / ".cursor" / "mcp.json"))
    assert sorted(kept["files"][path]) == ["file", "folders", "table", "text"]
