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
BUDGETS: dict[str, int] = {}
SYSTEM_BUDGETS: dict[str, int] = {}

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
