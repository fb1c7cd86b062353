"""What a run needs to know about the project: pinned when it starts, and checked before anything costs money."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from handrail.engine.state.scope import parse_expression
from handrail.errors import NotConfigured, UsageError
from handrail.frozen import frozen
from handrail.language.patterns.match import BadPattern
from handrail.language.patterns.read import pattern_of
from handrail.model.names import make_identifier
from handrail.model.parts import parts, walk_steps
from handrail.model.workflow.actions import ScriptAction
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.proofs import CheckProof
from handrail.model.workflow.settings import FileCheck, Project
from handrail.model.workflow.values import Expression, Prompt
from handrail.operations.workflows.repository_config import CONFIG, RepositorySettings

_IN_PROMPT = re.compile(r"\{[{%][^{}]*\bproject\.(sources|default_branch)\b")
EXAMPLES = {
    "sources": 'sources = ["src/**"]  # where the product\'s own code is',
    "outdated": 'outdated = "COMMAND"  # prints a line NAME CURRENT WANTED for each package',
    "update": 'update = "COMMAND"  # brings $PACKAGE to $VERSION',
}
"""The lines to add to [project] if something is missing."""
FILE_CHECK = (
    'command = "COMMAND"  # runs the tests of $FILE',
    "failed = [1]  # exit codes that mean a failing test",
)


@frozen
class ProjectNeeds:
    """What workflows read about a project: names after `project.`, and checks of single files."""

    names: frozenset[str] = frozenset()
    file_checks: frozenset[str] = frozenset()


def needs_of(plans: Iterable[Plan]) -> ProjectNeeds:
    """Find out which of the project's settings some workflows read."""
    names: set[str] = set()
    checks: set[str] = set()
    for plan in plans:
        names.update(each.default_from.removeprefix("project.") for each in plan.inputs if each.default_from)
        steps = [step for _, step in walk_steps(plan.steps)]
        checks.update(each.check for step in steps for each in parts(step.done_when, CheckProof))
        names.update(
            step.action.project for step in steps if isinstance(step.action, ScriptAction) and step.action.project
        )
        own = {make_identifier(each.name) for each in plan.inputs} | {
            make_identifier(step.output) for step in steps if step.output
        }
        if "project" not in own:
            names.update(found for step in steps for found in _settings_read_by(step))
    return ProjectNeeds(frozenset(names), frozenset(checks))


def _settings_read_by(step: object) -> Iterable[str]:
    for expression in parts(step, Expression):
        for ref in parse_expression(expression.source)[1]:
            if ref.parts[0] == "project":
                yield from ref.parts[1:2] or ("sources", "default_branch")
    for prompt in parts(step, Prompt):
        yield from _IN_PROMPT.findall(prompt.text)


def project_for(needs: ProjectNeeds, configured: RepositorySettings | None, branch: Callable[[], str]) -> Project:
    """Return the configured project; if something needed is missing, refuse with the lines to add."""
    if configured is not None and _has_needed_setting(needs, configured.config.project):
        configured.require("the [project] table", "needs")
    usable = configured is not None and not configured.distrust
    project = configured.config.project if configured is not None and usable else Project()
    require_project(needs, project)
    if "default_branch" in needs.names and not project.default_branch:
        project = replace(project, default_branch=branch())
    return project


def require_project(needs: ProjectNeeds, project: Project) -> None:
    """Refuse a start that lacks some setting of the project, with the lines to add."""
    missing = [name for name in EXAMPLES if name in needs.names and not getattr(project, name)]
    for each in project.file_checks:
        if each.name in needs.file_checks:
            _require_pattern(each)
    known = {each.name for each in project.file_checks}
    checks = sorted(needs.file_checks - known)
    if not missing and not checks:
        return
    what = [f"[project] {name}" for name in missing] + [f"[checks.{name}]" for name in checks]
    message = f"this workflow needs {' and '.join(what)} in {CONFIG}; nothing was started"
    lines = ["[project]", *(EXAMPLES[name] for name in missing)] if missing else []
    lines += [line for name in checks for line in (f"[checks.{name}]", *FILE_CHECK)]
    hint = f"handrail init finds it for most projects; or write into {CONFIG}:"
    raise NotConfigured(message, lines, next_step=hint)


def _require_pattern(check: FileCheck) -> None:
    try:
        pattern_of(check.failed_when)
    except BadPattern as error:
        message = (
            f"failed_when of [checks.{check.name}] in {CONFIG} is not a valid pattern: {error}; nothing was started"
        )
        raise UsageError(message, next_step="write a pattern without lookarounds and backreferences") from error


def _has_needed_setting(needs: ProjectNeeds, project: Project) -> bool:
    return bool(needs.file_checks and project.file_checks) or any(getattr(project, name, "") for name in needs.names)
