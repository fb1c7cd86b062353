"""Finds the tests of workflows: `tests/*.yaml` in a workflow's folder, `NAME.tests/*.yaml` beside a single file."""

import shlex
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from handrail.errors import HandrailError, InvalidWorkflow, UsageError
from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.operations.runs.prepare import pin
from handrail.operations.scenarios.addresses import KnownSteps
from handrail.operations.scenarios.read import Scenario, read_scenarios
from handrail.operations.workflows.find_targets import find_workflows
from handrail.runtime.ports import PinnedWorkflow
from handrail.sources.folders import Folders
from handrail.sources.open_workflow import bindings_content, bindings_for
from handrail.sources.tiers import Location, Tier, WorkflowFile, discover
from handrail.sources.trust.store import TrustStore
from handrail.sources.workflow_snapshot import TESTS, take

ENDINGS = (".yaml", ".yml")


@frozen
class Suite:
    """A workflow with its tests."""

    name: str
    path: str
    pinned: PinnedWorkflow
    scenarios: tuple[Scenario, ...]


@frozen
class _SelectedWorkflow:
    """A workflow, and its test files that are to be run."""

    found: WorkflowFile
    files: tuple[Path, ...]


def find_suites(place: Location, targets: Sequence[str], *, library: bool = False) -> tuple[Suite, ...]:
    """Find, read and check the tests of what is named, of the library, or of all workflows of the repository."""
    chosen = _choose_workflows(place, targets, library=library)
    tested = [each for each in chosen if each.files]
    if not tested:
        raise _make_no_tests_error(place, [each.found for each in chosen])
    report = Report()
    suites = tuple(_suite(place, each, report) for each in tested)
    if report.failed:
        wrong = len({each.file for each in report if each.is_error})
        what = "a test file" if wrong == 1 else f"{wrong} test files"
        next_step = "fix it; docs/testing-workflows.md lists every key"
        raise InvalidWorkflow(f"{what} cannot be used", tuple(report), next_step=next_step)
    return suites


def tests_of(main: Path, *, folder: bool) -> Path:
    """Return the folder that holds the tests of a workflow."""
    return main.parent / TESTS if folder else main.with_name(f"{main.stem}.{TESTS}")


@contextmanager
def trust_temporarily(place: Location) -> Generator[Location]:
    """Yield a place in which the repository's workflows may run as they are now; the user's own trust is unchanged."""
    with TemporaryDirectory(prefix="handrail-test-trust-") as folder:
        own = replace(place, folders=Folders(place.folders.config, Path(folder)))
        store = TrustStore(own.folders)
        for found in discover(place, Report()):
            if found.tier is Tier.REPOSITORY:
                with suppress(HandrailError):
                    store.trust_snapshot(take(found.main))
        bindings = bindings_content(place, bindings_for(place))
        store.trust(() if bindings is None else (bindings,))
        yield own


def _suite(place: Location, chosen: _SelectedWorkflow, report: Report) -> Suite:
    pinned = pin(place, str(chosen.found.main))
    known = KnownSteps(pinned.plan, tuple(each.plan for each in pinned.calls.values()))
    scenarios: list[Scenario] = []
    for file in chosen.files:
        own = Report()
        scenarios += read_scenarios(file, place.display_path(file), known, own)
        for each in sorted(own, key=lambda found: (found.line, found.column)):
            report.add(each)
    return Suite(pinned.plan.name, place.display_path(chosen.found.main), pinned, tuple(scenarios))


def _choose_workflows(place: Location, targets: Sequence[str], *, library: bool) -> list[_SelectedWorkflow]:
    chosen = [each for target in targets for each in _resolve_target(place, target)]
    tier = Tier.BUILT_IN if library else None if targets else Tier.REPOSITORY
    if tier is not None:
        found = [each for each in discover(place, Report()) if each.tier is tier and each.problem is None]
        chosen += [_SelectedWorkflow(each, _files(each)) for each in found]
    return list({each.found.main: each for each in chosen}.values())


def _resolve_target(place: Location, target: str) -> list[_SelectedWorkflow]:
    """Resolve a workflow, a folder of workflows, or a test file with the workflow to which it belongs."""
    file = (place.cwd or Path.cwd()) / target
    if file.suffix in ENDINGS and file.is_file():
        owner = _owner(place, file)
        if owner is not None:
            return [_SelectedWorkflow(owner, (file,))]
    return [_SelectedWorkflow(each, _files(each)) for each in find_workflows(place, target, Report())]


def _owner(place: Location, file: Path) -> WorkflowFile | None:
    """Find the workflow to which a test file belongs."""
    folder = file.absolute().parent
    if folder.name == TESTS:
        beside = folder.parent
    elif folder.name.endswith(f".{TESTS}"):
        beside = next((each for end in ENDINGS if (each := folder.with_suffix(end)).is_file()), folder)
    else:
        return None
    with suppress(HandrailError):
        return find_workflows(place, str(beside), Report())[0]
    return None


def _files(found: WorkflowFile) -> tuple[Path, ...]:
    folder = tests_of(found.main, folder=found.folder)
    try:
        return tuple(sorted(each for each in folder.iterdir() if each.suffix in ENDINGS and each.is_file()))
    except OSError:
        return ()


def _make_no_tests_error(place: Location, looked: list[WorkflowFile]) -> UsageError:
    """Build the error that there are no tests, with the first one to write."""
    if not looked:
        hint = "name a workflow: handrail test NAME|PATH, or --library for the built-in ones"
        return UsageError("there is no workflow to test here", next_step=hint)
    first = looked[0]
    file = place.display_path(tests_of(first.main, folder=first.folder) / "first.yaml")
    names = ", ".join(each.name for each in looked[:5]) + (", ..." if len(looked) > 5 else "")
    example = "`name: it ends well` and `expect: {status: succeeded}`"
    hint = f"write {file} with {example}, or have it written for you: handrail test --init {shlex.quote(first.name)}"
    return UsageError(f"{names} {'has' if len(looked) == 1 else 'have'} no tests", next_step=hint)
