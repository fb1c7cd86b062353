"""A user's folders and a repository on disk, for the tests of what is found there."""

from pathlib import Path

from handrail.model.diagnostics import Report
from handrail.sources.folders import Folders
from handrail.sources.tiers import Location, WorkflowFile, discover, find
from handrail.sources.trust.store import TrustStore
from handrail.sources.workflow_snapshot import take

YAML = "name: {name}\nsteps:\n  - name: one\n    prompt: Do the thing.\n"
JSON = '{{"id": "{name}", "name": "N", "version": "1.0.0", "description": "d", "steps": []}}\n'
PYTHON = """\
from pathlib import Path

Path({mark!r}).write_text("it ran")


def resolve(context):
    return {{"name": {name!r}, "steps": [{{"name": "one", "prompt": "Do the thing."}}]}}
"""


class Workplace:
    """Paths are given from the user's workflows folder or from the repository's root."""

    def __init__(self, base: Path) -> None:
        self.home = base / "home"
        self.repo = base / "repo"
        self.mark = base / "ran"
        self.folders = Folders(self.home, self.home / "data")
        self.place = Location(self.folders, self.repo, self.repo)
        (self.repo / ".git").mkdir(parents=True)

    def user(self, path: str, text: str) -> Path:
        return write(self.home / "workflows" / path, text)

    def repository(self, path: str, text: str) -> Path:
        return write(self.repo / path, text)

    def workflow(self, path: str, text: str) -> Path:
        return write(self.repo / ".handrail" / "workflows" / path, text)

    def python(self, name: str) -> str:
        """A workflow.py that leaves a mark when it is imported."""
        return PYTHON.format(mark=str(self.mark), name=name)

    def all(self, report: Report | None = None) -> tuple[WorkflowFile, ...]:
        return discover(self.place, report or Report())

    def named(self, name: str) -> list[WorkflowFile]:
        return [found for found in self.all() if found.name == name]

    def find(self, name: str) -> WorkflowFile:
        return find(self.place, name, Report())


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def difference(store: TrustStore, main: Path) -> str:
    """What a person is shown of a workflow's files that are not trusted as they are."""
    return store.difference_of(store.status_of(take(main).contents).missing, main.parent.resolve())
