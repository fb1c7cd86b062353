"""How long the tests of each folder take, printed at the end of a run beside the budget of the folder.

A folder that exceeds its budget is marked and never a failure: machines differ, and a busy one says nothing about the
code. The times are those of the tests, added up over all workers.
"""

import os
from collections import defaultdict
from pathlib import PurePosixPath

import pytest

USUAL = 15
"""Seconds for a folder that has no budget of its own; it is printed only where it takes longer than that."""
BUDGETS: dict[str, int] = {
    "tests/agents": 40,
    "tests/agents/described": 30,
    "tests/agents/played": 30,
    "tests/authoring/readers": 20,
    "tests/cli": 30,
    "tests/cli/begin": 70,
    "tests/cli/demo": 50,
    "tests/cli/keep": 40,
    "tests/cli/live": 70,
    "tests/cli/look": 40,
    "tests/cli/steer": 30,
    "tests/cli/workflows": 50,
    "tests/corpus": 40,
    "tests/differences": 90,
    "tests/docs": 90,
    "tests/engine/decide": 20,
    "tests/engine/fold": 20,
    "tests/engine/guided": 60,
    "tests/engine/prompts": 20,
    "tests/engine/simulation": 80,
    "tests/issue_to_merge": 120,
    "tests/language/expressions": 20,
    "tests/laws": 350,
    "tests/library": 30,
    "tests/model": 20,
    "tests/operations/pull": 80,
    "tests/operations/runs": 20,
    "tests/operations/scenarios": 20,
    "tests/operations/step_tools": 40,
    "tests/processes": 80,
    "tests/runtime": 150,
    "tests/runtime/dynamic": 40,
    "tests/runtime/handlers": 100,
    "tests/runtime/handlers/agents": 40,
    "tests/runtime/handlers/proofs": 20,
    "tests/runtime/handlers/trackers": 40,
    "tests/runtime/local": 20,
    "tests/security": 60,
    "tests/serve/mcp": 110,
    "tests/store/sqlite": 20,
    "tests/testing": 30,
    "tests/testing/github": 20,
    "tests/trackers/github": 40,
    "tests/workspace": 90,
    "tests/workspace/delivery": 60,
    "tests/workspace/snapshots": 40,
    "tests/workspace/worktrees": 20,
}
"""Seconds for the tests that `make test` runs, on a machine with two processors that does nothing else."""
SYSTEM_BUDGETS: dict[str, int] = {
    "tests/agents": 30,
    "tests/agents/claude": 50,
    "tests/agents/codex": 30,
    "tests/agents/npm": 300,
    "tests/cli": 20,
    "tests/cli/begin": 150,
    "tests/cli/look": 20,
    "tests/docs": 130,
    "tests/first_use": 400,
    "tests/issue_to_merge": 1200,
    "tests/laws": 100,
    "tests/next_steps": 200,
    "tests/runtime/dynamic": 60,
    "tests/runtime/handlers/agents": 30,
    "tests/security": 1000,
    "tests/serve/mcp": 60,
    "tests/trackers/github": 250,
    "tests/workspace/delivery": 80,
}
"""Seconds for the tests that `make test-system` runs."""

_spent: defaultdict[str, float] = defaultdict(float)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up what a phase of a test took; a worker's report arrives here as well."""
    _spent[str(PurePosixPath(report.nodeid.partition("::")[0]).parent)] += report.duration


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the folders with a budget that took part, and those that ought to have one."""
    budgets = SYSTEM_BUDGETS if os.environ.get("HANDRAIL_SYSTEM") else BUDGETS
    shown = {folder: seconds for folder, seconds in _spent.items() if folder in budgets or seconds > USUAL}
    if not shown or os.environ.get("HANDRAIL_SOAK"):
        return
    terminalreporter.section("time per folder")
    for folder, seconds in sorted(shown.items()):
        budget = budgets.get(folder, USUAL)
        over = seconds > budget
        mark = "  warning: over its budget" if over else ""
        terminalreporter.line(f"{folder} {seconds:.0f} s of {budget} s{mark}", yellow=over)
