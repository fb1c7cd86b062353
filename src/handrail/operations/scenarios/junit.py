"""The outcome of scenarios as a JUnit report for CI systems."""

import re
from collections.abc import Sequence
from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

from handrail.operations.scenarios.problems import Problem
from handrail.operations.scenarios.suite import Outcome

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(outcomes: Sequence[Outcome]) -> str:
    """Render the report: one suite per workflow, one case per scenario."""
    suites = [list(group) for _, group in groupby(outcomes, key=lambda each: each.suite.path)]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites{_counts('handrail test', outcomes)}>"]
    for suite in suites:
        lines.append(f"  <testsuite{_counts(suite[0].suite.name, suite)}>")
        lines += [line for outcome in suite for line in _case(outcome)]
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>", ""])


def text_of(problem: Problem) -> str:
    """Format a problem as plain lines."""
    lines = [f"{problem.file}:{problem.line}: {problem.what}"]
    lines += [f"  {mark} {text}" for mark, text in problem.difference]
    told = {"expected": problem.expected, "happened": problem.happened, "hint": problem.hint, "add": problem.add}
    for name, text in told.items():
        lines += [f"  {name}: {line}" if not number else f"    {line}" for number, line in _number_lines(text)]
    return "\n".join(lines)


def _number_lines(text: str) -> list[tuple[int, str]]:
    return list(enumerate(text.split("\n"))) if text else []


def _case(outcome: Outcome) -> list[str]:
    case = {
        "classname": outcome.suite.name,
        "name": outcome.scenario.name,
        "file": outcome.scenario.file,
        "line": str(outcome.scenario.line),
        "time": f"{outcome.seconds:.3f}",
    }
    inside: list[str] = []
    if outcome.scenario.skip:
        inside = [f"<skipped message={_quote_attribute(outcome.scenario.skip)}/>"]
    elif outcome.problems:
        text = "\n\n".join(text_of(each) for each in outcome.problems)
        first = _quote_attribute(outcome.problems[0].what)
        inside = [f'<failure message={first} type="scenario">{escape(_clean(text))}</failure>']
    if outcome.replaced:
        told = f"stood in for: {', '.join(outcome.replaced)}"
        inside.append(f"<system-out>{escape(_clean(told))}</system-out>")
    head = f"    <testcase{_attributes(case)}"
    return [f"{head}/>"] if not inside else [f"{head}>", *(f"      {line}" for line in inside), "    </testcase>"]


def _counts(name: str, outcomes: Sequence[Outcome]) -> str:
    return _attributes(
        {
            "name": name,
            "tests": str(len(outcomes)),
            "failures": str(sum(1 for each in outcomes if not each.ok)),
            "errors": "0",
            "skipped": str(sum(1 for each in outcomes if each.scenario.skip)),
            "time": f"{sum(each.seconds for each in outcomes):.3f}",
        }
    )


def _attributes(values: dict[str, str]) -> str:
    return "".join(f" {name}={_quote_attribute(value)}" for name, value in values.items())


def _quote_attribute(text: str) -> str:
    return quoteattr(_clean(text))


def _clean(text: str) -> str:
    """Replace what XML cannot hold with a mark."""
    return _NOT_XML.sub("\ufffd", text)
