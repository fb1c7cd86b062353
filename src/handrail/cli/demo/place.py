"""The temporary folder of the demo, with its own repository, Handrail folder and home."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from handrail.errors import EnvironmentFault
from handrail.frozen import frozen
from handrail.sources.folders import Folders, user_folders
from handrail.wiring.demo_environment import demo_variables

DATA = Path(__file__).parent / "demo_data"
MARK = "handrail-demo-"
OWN_WORK = "notes.txt"
_REMOVED_WITHIN = 5.0
_GIT_CONFIG = "[user]\n\tname = You\n\temail = you@example.org\n[init]\n\tdefaultBranch = main\n"


@frozen
class DemoPlace:
    """The folders and files of one demo."""

    folder: Path

    @property
    def repository(self) -> Path:
        """The project whose tests fail."""
        return self.folder / "shop"

    @property
    def home(self) -> Path:
        """The home folder of everything that runs in the demo."""
        return self.folder / "home"

    @property
    def handrail(self) -> Path:
        """The value of HANDRAIL_HOME in the demo."""
        return self.folder / "handrail"

    @property
    def folders(self) -> Folders:
        """Handrail's folders in the demo."""
        return user_folders({"HANDRAIL_HOME": str(self.handrail)})

    @property
    def busy_file(self) -> Path:
        """While this file exists, the agent that fixes the receipt is at work."""
        return self.home / "at-work"

    @property
    def witness(self) -> Path:
        """The file to which that agent adds a line whenever it is started."""
        return self.home / "witness"

    def environment(self) -> dict[str, str]:
        """Build the environment of every command: nothing in it leads to the user's own files or settings."""
        seen = demo_variables()
        kept = {name: value for name, value in seen.items() if not name.startswith("XDG_")}
        return {
            **kept,
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{kept['PATH']}",
            "HOME": str(self.home),
            "TMPDIR": str(self.folder / "tmp"),
            "HANDRAIL_HOME": str(self.handrail),
            "LOGNAME": "you",
            "COLUMNS": "78",
            "GIT_CONFIG_NOSYSTEM": "1",
        }


@contextmanager
def throw_away(*, keep: bool) -> Generator[DemoPlace]:
    """Create the folder, and remove it afterwards unless `keep` is set."""
    if shutil.which("git") is None:
        raise EnvironmentFault("git is not installed, and the demo needs it", next_step="install git, then try again")
    place = DemoPlace(_make_folder())
    try:
        _fill(place)
        yield place
    finally:
        if not keep:
            _remove(place.folder)


def _make_folder() -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix=MARK)).resolve()
    except OSError as error:
        message = f"there is no writable folder for temporary files: {error.strerror or error}"
        raise EnvironmentFault(message, next_step="TMPDIR=A_FOLDER_OF_YOURS handrail demo") from error


def _fill(place: DemoPlace) -> None:
    workflow = place.folders.workflows / "demo"
    for folder in (place.repository, place.home, workflow, place.folder / "bin", place.folder / "tmp"):
        folder.mkdir(parents=True)
    (place.home / ".gitconfig").write_text(_GIT_CONFIG, "utf-8")
    # The tests run with the Python that runs Handrail: a machine need not have another one.
    (place.folder / "bin" / "python3").symlink_to(sys.executable)
    shutil.copyfile(DATA / "workflow.yaml", workflow / "workflow.yaml")
    shutil.copyfile(DATA / "script.yaml", place.folder / "script.yaml")
    for file in (DATA / "project").iterdir():
        shutil.copyfile(file, place.repository / file.name.removesuffix(".txt"))
    for words in ("init -q -b main", "add -A", "commit -q -m 'A shop that adds up wrong'", "switch -q -c yours"):
        _git(place, words)
    (place.repository / OWN_WORK).write_text("your own notes, not committed\n", "utf-8")
    place.busy_file.touch()


def _git(place: DemoPlace, words: str) -> None:
    done = subprocess.run(  # noqa: S602 - words of our own
        f"git {words}",
        shell=True,
        cwd=place.repository,
        env=place.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        said = done.stderr.strip().splitlines()[-1:] or [f"exit {done.returncode}"]
        message = f"git cannot create the repository of the demo: {said[0]}"
        raise EnvironmentFault(message, next_step="check that git is 2.28 or newer: git --version")


def _remove(folder: Path) -> None:
    """Remove the folder, even while a process that is about to end still writes into it."""
    until = time.monotonic() + _REMOVED_WITHIN
    while folder.exists() and time.monotonic() < until:
        with suppress(OSError):
            shutil.rmtree(folder)
            return
        time.sleep(0.05)
    if folder.exists():
        raise EnvironmentFault(f"{folder} cannot be removed", next_step="remove it yourself")
