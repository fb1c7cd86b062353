"""Commands that turn an agent's text into code, or that leave their own worktree."""

import re
from collections.abc import Iterator

from handrail.authoring.readers.locate import span_at
from handrail.compiler.lint.context import LintContext
from handrail.compiler.lint.origins import Origins
from handrail.compiler.lint.shell import VariableUse, find_uses, mark_quoting
from handrail.compiler.lint.walk import Visit
from handrail.model.source import Mapping, Scalar, Sequence
from handrail.model.workflow.actions import GateAction, ScriptAction
from handrail.model.workflow.guidance import DelegateAction
from handrail.model.workflow.values import NamedValue


def lint_unquoted_agent_text(context: LintContext) -> None:
    """Warn where a variable that holds an agent's or an issue's text is split by the shell, or executed."""
    visits = [visit for visit in context.own if isinstance(visit.step.action, ScriptAction | GateAction)]
    if not any(_env(visit) for visit in visits):
        return
    origins = Origins(context)
    for visit in visits:
        writers = {each.name: origins.writer(visit, each.value) for each in _env(visit)}
        for command in _commands(visit) if any(writers.values()) else ():
            _lint_uses(context, command, writers)


def _lint_uses(context: LintContext, command: Scalar, writers: dict[str, str | None]) -> None:
    script = str(command.value)
    for use in find_uses(script) if any(name in script for name in writers) else ():
        writer = writers.get(use.name)
        if writer is not None and use.how != "quoted":
            _warn(context, command, use, writer)


def _env(visit: Visit) -> tuple[NamedValue, ...]:
    action = visit.step.action
    return action.env if isinstance(action, ScriptAction | GateAction) else ()


def _warn(context: LintContext, command: Scalar, use: VariableUse, writer: str) -> None:
    if use.how == "bare":
        message = f"${use.name} contains text from {writer} and is not quoted"
        hint = f'write "${use.name}", otherwise the shell splits the text and expands patterns in it'
    else:
        message = f"${use.name} contains text from {writer} and would be run as code by `{use.how}`"
        hint = "call the program directly and pass the value as an argument"
    context.report.warning("unquoted-agent-text", message, span_at(command, use.start, use.end), hint)


def _commands(visit: Visit) -> Iterator[Scalar]:
    """Find the shell commands of a step as they were written."""
    node = visit.node
    if node is None:
        return
    command, checks, proofs = node.get("command"), node.get("checks"), node.get("done_when")
    if isinstance(command, Scalar):
        yield command
    for entry in checks if isinstance(checks, Mapping) else ():
        if isinstance(entry.value, Scalar):
            yield entry.value
    for item in proofs.items if isinstance(proofs, Sequence) else ():
        for key in ("passes", "fails"):
            proof = item.get(key) if isinstance(item, Mapping) else None
            if isinstance(proof, Scalar):
                yield proof


LEAVES = re.compile(
    r"(?:^|(?<=[\s;&|(]))(?:(?:cd|pushd)\s+(?:[\"']?(?:/|~|\$HOME|\.\.)[^\s;&|)]*)|git\s+(?:-c\s+\S+\s+)*-C\s+\S+|"
    r"git\s+(?:checkout|switch|worktree|push)\b(?P<rest>[^\n;&|]*))"
)
RESTORES = re.compile(r"\s+(?:.*\s)?--\s")
"""`git checkout [TREE] -- PATH` only restores files."""


def lint_shared_work_trees(context: LintContext) -> None:
    """Warn of agents that work in the same files, and of commands in a fan-out that leave their item's worktree."""
    for visit in context.own:
        if isinstance(visit.step.action, DelegateAction):
            _lint_delegations(context, visit, visit.step.action)
        elif visit.fan_out is not None:
            for command in _commands(visit):
                _lint_leaving(context, command)


def _lint_delegations(context: LintContext, visit: Visit, action: DelegateAction) -> None:
    free = [each.workflow for each in action.delegations if each.allowed_tools is None]
    if len(free) > 1:
        message = f"{len(free)} delegations may write to the same files at the same time"
        hint = f"give all but one of {', '.join(free)} read-only `allowedTools`"
        context.report.warning("shared-work-tree", message, context.locate(visit, "parallelDelegations"), hint)


def _lint_leaving(context: LintContext, command: Scalar) -> None:
    script = str(command.value)
    marks = ""
    for found in LEAVES.finditer(script):
        marks = marks or mark_quoting(script)
        if marks[found.start()] != " " or (found["rest"] is not None and RESTORES.match(found["rest"])):
            continue
        what = " ".join(found[0].split())
        message = f"`{what}` leaves the item's own worktree while other items run"
        hint = "stay in the item's own folder and branch; `type: merge` and `type: pull-request` do the rest"
        context.report.warning("shared-work-tree", message, span_at(command, *found.span()), hint)
