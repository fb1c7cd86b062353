"""The real Claude Code and Codex for tests: found in their Python packages, each test with a home of its own.

Nothing leaves the machine: they talk to the scripted model on loopback, and every other way leads to a closed door.
"""

import importlib.util
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

PACKAGES = "HANDRAIL_TEST_AGENTS"
"""A folder with the packages, where they are not installed beside the tests."""
PROGRAMS = {"claude": ("claude_agent_sdk", "_bundled/claude"), "codex": ("codex_cli_bin", "bin/codex")}
NOWHERE = "http://127.0.0.1:9"
CODEX = """\
model = "gpt-5.5"
model_provider = "local"
check_for_update_on_startup = false
[features]
plugins = false
[model_providers.local]
name = "local"
base_url = "{url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
request_max_retries = {retries}
stream_max_retries = {retries}
"""


def hide(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the PATH lead to a new folder with every program of this machine but one."""
    folder.mkdir()
    for each in os.environ["PATH"].split(os.pathsep):
        for found in Path(each).glob("*"):
            if found.name != name and not (folder / found.name).is_symlink():
                (folder / found.name).symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))


def program(name: str) -> Path | None:
    """Find an agent's own binary."""
    package, inner = PROGRAMS[name]
    found = importlib.util.find_spec(package)
    folders = [Path(each) for each in (found.submodule_search_locations or ())] if found else []
    if os.environ.get(PACKAGES):
        folders.append(Path(os.environ[PACKAGES]) / package)
    return next((each / inner for each in folders if (each / inner).is_file()), None)


@dataclass(frozen=True, slots=True)
class Home:
    """Where the agents of one test live."""

    root: Path
    """A folder beside the temporary one of the test: an agent's configuration may not lie below its `TMPDIR`."""

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def claude(self) -> Path:
        return self.root / "claude"

    @property
    def codex(self) -> Path:
        return self.root / "codex"

    def point_codex(self, url: str, retries: int = 0) -> None:
        """Let Codex ask the model at an address."""
        (self.codex / "config.toml").write_text(CODEX.format(url=url, retries=retries))


@pytest.fixture
def real_agents(monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """Put the real agents on the PATH, each with a configuration of its own and a key that opens nothing."""
    with TemporaryDirectory(prefix="handrail-agents-", dir="/var/tmp", ignore_cleanup_errors=True) as folder:
        home = Home(Path(folder))
        for each in (home.home, home.claude, home.codex, home.root / "bin", home.root / "tmp"):
            each.mkdir()
        for name in PROGRAMS:
            found = program(name)
            assert found is not None, f"{name} is missing, and the test is not marked with the system tools it needs"
            (home.root / "bin" / name).symlink_to(found)
        _environment(monkeypatch, home)
        yield home


def _environment(monkeypatch: pytest.MonkeyPatch, home: Home) -> None:
    for name in [each for each in os.environ if each.startswith(("CLAUDE", "ANTHROPIC_", "CODEX_", "OPENAI_", "AWS_"))]:
        monkeypatch.delenv(name)
    settings = {
        "PATH": f"{home.root / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home.home),
        "TMPDIR": str(home.root / "tmp"),
        "CLAUDE_CONFIG_DIR": str(home.claude),
        "CODEX_HOME": str(home.codex),
        "ANTHROPIC_BASE_URL": NOWHERE,
        "ANTHROPIC_API_KEY": "no-key-at-all",
        "OPENAI_API_KEY": "no-key-at-all",
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
    }
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        settings[name] = NOWHERE
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
