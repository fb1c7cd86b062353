"""What `init` found, tried and wrote, as lines in two columns and as JSON data."""

import shutil
from collections.abc import Iterable, Sequence
from typing import Any

from handrail.cli.render.safe_text import crop, escape_controls, width
from handrail.frozen import frozen
from handrail.model.workflow.settings import FileCheck
from handrail.operations.init.config_text import OmittedCommand, Settings
from handrail.operations.init.find_out import ProjectSurvey
from handrail.operations.init.trial import TrialResult
from handrail.operations.init.write import WriteResult
from handrail.operations.workflows.repository_config import CONFIG

LABEL = 12
MAX_WIDTH = 120
WIDE = " " * 10
RUN = "handrail run"
FILLED_BY = {"node_modules": ("npm ", "pnpm ", "yarn ", "bun "), "vendor": ("composer ", "bundle ")}
"""The package managers that fill a folder."""
LONG_SETUP = 5.0
"""The seconds of set-up from which it is mentioned."""


@frozen
class Report:
    """Everything that `init` reports."""

    found: ProjectSurvey
    fresh: Settings
    """The settings that are not in the configuration yet."""
    whole: Settings
    """The settings that hold once it is written."""
    tried: tuple[TrialResult, ...] | None = None
    wrote: tuple[WriteResult, ...] = ()

    @property
    def next(self) -> str:
        """The command that comes next."""
        distrusted = [each.path for each in self.wrote if not each.trusted]
        distrusted += [CONFIG] if self.found.distrust and CONFIG not in distrusted else []
        others = {each.path for each in self.found.files_to_trust} - {each.rstrip("/") for each in distrusted}
        if others:
            return "handrail trust ."
        if distrusted:
            return f"handrail trust {distrusted[0].rstrip('/')}"
        return f'{RUN} fix-bug "what is broken"'


def survey_lines(report: Report) -> list[str]:
    """Render what was found."""
    sources = report.whole.project.sources
    lines = [
        *row("Repository", _repository(report.found)),
        *row("Agent", _agent(report), WIDE),
        *row("Checks", _checks(report), "   "),
        *row("One test", _single_file_check(report), "   "),
        *row("Sources", list(sources) if sources else ["unknown"]),
        *row("Worktrees", _worktrees(report), WIDE),
    ]
    for note in _notes(report):
        lines += row("Note", [note])
    return lines


def trial_lines(report: Report) -> list[str]:
    """Render the result of the trial, with the end of the output of whatever did not pass."""
    tried = report.tried
    if tried is None:
        return row("Trying it", ["not tried (--no-try)"])
    bad = [each for each in tried if each.outcome != "green"]
    parts = [_describe_trial(each) for each in tried if each.outcome not in ("not tried", "not installed")]
    checked = any(each.name not in ("worktree", "setup") for each in tried)
    if not bad:
        parts[-1] += f" green on {report.found.head_name}" if checked else " (there is no check to try)"
    lines = row("Trying it", parts)
    for each in bad:
        lines += _bad_lines(each, report.found.head_name)
    return [*lines, *_setup_cost_lines(tried, report.found.installed)]


def _setup_cost_lines(tried: tuple[TrialResult, ...], installed: tuple[str, ...]) -> list[str]:
    """Render what set-up costs each run if it is slow, and how to make it cheaper."""
    setup = [each for each in tried if each.name == "setup" and each.outcome == "green"]
    seconds = sum(each.seconds for each in setup)
    if seconds < LONG_SETUP:
        return []
    said = f"every run repeats set-up in its own worktree: {_seconds(seconds)}"
    packages = any(each.command.startswith(("npm ", "pnpm ", "yarn ")) for each in setup)
    lines = row("", [said, *(["add --prefer-offline to take packages from the cache"] if packages else [])], "; ")
    folders = [folder for folder, tools in FILLED_BY.items() if folder in installed and _calls(setup, tools)]
    if folders:
        names = ", ".join(f'"{each}"' for each in folders)
        instead = f"or copy {' and '.join(folders)} from your checkout: setup = [] and copy = [{names}]"
        lines += row("", [f"{instead} under [worktrees] in {CONFIG}"])
    return lines


def _calls(setup: Sequence[TrialResult], tools: tuple[str, ...]) -> bool:
    return all(each.command.startswith(tools) for each in setup)


def result_lines(report: Report) -> list[str]:
    """Render what was written, what was left out, and what comes next."""
    lines: list[str] = []
    for each in report.fresh.left_out:
        lines += row("Left out", [f"{each.name}: {_value(each)} ({each.why})"])
    trusted = [each.path for each in report.wrote if each.trusted]
    others = [each.path for each in report.wrote if not each.trusted]
    if trusted:
        lines += row("Wrote", [*_comma(trusted), "(trusted: you wrote them)"], "   ")
    if others:
        lines += row(
            "Wrote", [*_comma(others), "(not trusted yet: it contains content that you have not trusted)"], "   "
        )
    if not report.wrote:
        lines += row("Wrote", ["nothing: everything already exists"])
    return [*lines, *row("Next", [_first(report) + report.next])]


def _first(report: Report) -> str:
    """Describe what to do before a run is worth starting; empty if there is nothing."""
    if not report.next.startswith(RUN):
        return ""
    red = [each for each in report.fresh.left_out if each.table == "checks"]
    if red:
        names, was = " and ".join(each.name for each in red), "was" if len(red) == 1 else "were"
        return f"{names} {was} left out and runs will not check it; fix that and run handrail init again, or: "
    lacking = [
        *(["install an agent and log in"] if not report.whole.agent else []),
        *([f"name your checks in {CONFIG}"] if not report.whole.checks else []),
        *(
            ["configure there how to run a single test file"]
            if report.whole.checks and report.whole.single_file_check is None
            else []
        ),
    ]
    return f"{', '.join(lacking)}, then: " if lacking else ""


def init_data(report: Report) -> dict[str, Any]:
    """Convert the report to JSON data."""
    found, tried = report.found, report.tried
    return {
        "repository": str(found.root),
        "branch": found.branch,
        "uncommitted": list(found.uncommitted),
        "agent": report.whole.agent or None,
        "agents": list(found.agents),
        "checks": dict(report.whole.checks),
        "test_one": None
        if report.whole.single_file_check is None
        else _file_check_data(report.whole.single_file_check),
        "project": {
            "sources": list(report.whole.project.sources),
            "default_branch": report.whole.project.default_branch,
            "outdated": report.whole.project.outdated or None,
            "update": report.whole.project.update or None,
        },
        "worktrees": {"setup": list(report.whole.setup), "copy": list(report.whole.copy)},
        "left_out": [
            {"table": each.table, "name": each.name, "command": _value(each), "why": each.why}
            for each in report.fresh.left_out
        ],
        "notes": list(_notes(report)),
        "tried": None if tried is None else [_trial_data(each) for each in tried],
        "wrote": [{"path": each.path, "trusted": each.trusted} for each in report.wrote],
        "next": report.next,
    }


def _file_check_data(one: FileCheck) -> dict[str, Any]:
    return {"command": one.command, "failed": list(one.failed), "failed_when": one.failed_when or None}


def _trial_data(each: TrialResult) -> dict[str, Any]:
    return {
        "name": each.name,
        "command": each.command or None,
        "seconds": round(each.seconds, 1),
        "outcome": each.outcome,
        "why": each.why or None,
        "output": each.output or None,
    }


def _repository(found: ProjectSurvey) -> list[str]:
    parts = [found.root.name or str(found.root), f"default branch {found.branch or 'unknown'}"]
    if found.head_name != found.branch:
        parts.append(f"runs start from {found.head_name}, which is checked out")
    count = len(found.uncommitted)
    if count:
        files = "1 uncommitted file" if count == 1 else f"{count} uncommitted files"
        parts.append(f"{files} (runs start from the last commit)")
    return parts


def _agent(report: Report) -> list[str]:
    if not report.whole.agent:
        *others, last = report.found.known
        return [f"none found: install {', '.join(others)} or {last}, then run handrail init again"]
    name = report.whole.agent.partition("/")[0]
    missing = not any(each.partition("/")[0] == name for each in report.found.agents)
    others = [each.partition("/")[0] for each in report.found.agents if each.partition("/")[0] != name]
    also = [f"also here: {' '.join(others)}"] if others else []
    absent = [f"{name} is not installed"] if missing else []
    return [", ".join([report.whole.agent, "access edit", *also, *absent]), f"change in {CONFIG}"]


def _checks(report: Report) -> list[str]:
    if not report.whole.checks and report.found.distrust and report.found.config.checks:
        return [f"those of {CONFIG}, once you trust it"]
    if not report.whole.checks:
        return [f'none found. Name yours under [checks] in {CONFIG}, such as test = "./run-tests"']
    return [
        f"{name}: {command}{_new(report, name in dict(report.fresh.checks))}" for name, command in report.whole.checks
    ]


def _single_file_check(report: Report) -> list[str]:
    one = report.whole.single_file_check
    if one is None:
        return ["unknown"]
    return [f"{crop(one.command, 90)}{_new(report, bool(report.fresh.single_file_check))}"]


def _worktrees(report: Report) -> list[str]:
    whole, fresh = report.whole, report.fresh
    setup = [f"setup: {' && '.join(whole.setup)}{_new(report, bool(fresh.setup))}"] if whole.setup else []
    copy = [f"copy: {', '.join(whole.copy)}{_new(report, bool(fresh.copy))}"] if whole.copy else []
    more = ["copy: the files listed in .worktreeinclude"] if report.found.included else []
    parts = "   ".join([*setup, *copy, *more])
    return [parts, "(in each new worktree)"] if parts else ["nothing to set up, nothing to copy"]


def _new(report: Report, fresh: bool) -> str:
    """Mark what is added to a configuration that already exists."""
    return " (new)" if fresh and report.found.text is not None else ""


def _notes(report: Report) -> Iterable[str]:
    yield from report.found.project.notes
    if report.found.distrust:
        yield f"{CONFIG} exists but is not trusted ({report.found.distrust}): it is neither used nor tried"
    others = [each.path for each in report.found.files_to_trust if each.path != CONFIG]
    if others:
        names = ", ".join(others[:4]) + (f" and {len(others) - 4} more" if len(others) > 4 else "")
        yield f"{names} {'is' if len(others) == 1 else 'are'} not trusted yet: handrail trust . shows what to review"
    if not report.whole.single_file_check:
        yield f"fix-bug needs to know how to run a single test file: add [checks.test_one] to {CONFIG}"
    elif (command := report.whole.single_file_check.command).startswith("make "):
        yield f"{command} runs all tests; if a single file can be run, configure it in [checks.test_one]"
    if not report.whole.project.sources:
        yield f"fix-bug needs to know where the product's code is: add [project] sources to {CONFIG}"


def _describe_trial(each: TrialResult) -> str:
    mark = " ✓" if each.outcome == "green" else " ✗"
    if each.name in ("worktree", "setup") and each.outcome == "green":
        mark = ""
    return f"{each.command or each.name} {_seconds(each.seconds)}{mark}"


def _bad_lines(each: TrialResult, where: str) -> list[str]:
    if each.outcome == "not tried":
        return row("", [f"{each.name} was not tried: {each.why}"])
    what = {"red": f"is red on {where}: {each.why}", "took too long": f"took too long: {each.why}"}
    lines = row("", [f"{each.name} {what.get(each.outcome, f'cannot run: {each.why}')}"])
    shown = [escape_controls(line) for line in each.output.splitlines()[-12:]]
    return [*lines, *(" " * LABEL + "  " + crop(line, _columns() - LABEL - 2) for line in shown)]


def _value(each: OmittedCommand) -> str:
    return each.value if isinstance(each.value, str) else " && ".join(each.value)


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 1 else f"{seconds:.0f} s"


def _comma(words: Sequence[str]) -> list[str]:
    return [", ".join(words)]


def _columns() -> int:
    return min(max(shutil.get_terminal_size().columns, 40), MAX_WIDTH)


def row(label: str, parts: Sequence[str], between: str = ", ") -> list[str]:
    """Lay out parts after a label; a part that does not fit goes to the next line, and a long one is wrapped."""
    room = _columns() - LABEL
    lines: list[str] = []
    for number, part in enumerate(map(escape_controls, parts)):
        text = part + (between.rstrip() if number < len(parts) - 1 else "")
        joined = f"{lines[-1]}{' ' * (len(between) - len(between.rstrip()))}{text}" if lines else text
        if lines and width(joined) <= room:
            lines[-1] = joined
        else:
            lines += _wrap_text(text, room)
    return [f"{label if not number else '':<{LABEL}}{line}".rstrip() for number, line in enumerate(lines)]


def _wrap_text(text: str, room: int) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if width(joined) <= room or not lines[-1]:
            lines[-1] = joined
        else:
            lines.append(word)
    return lines
